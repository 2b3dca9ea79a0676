"""One step: `step_loss(model, reference, rollout, rewards, beta, epsilon) -> loss`, put together from right parts."""

from dataclasses import replace

import torch

from shared.engine.sampling import Sampling
from shared.exercises.arguments import Kind, Numbers, Scalar
from shared.exercises.catalogue import advantages as advantages_exercise
from shared.exercises.catalogue import kl, logps, loss, tiny
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps
from shared.rollout import Rollout

STEPS = Steps()
SCORED = logps.EXERCISE.reference()
NORMALISED = advantages_exercise.EXERCISE.reference()
LOSS = loss.EXERCISE.reference()


@STEPS.step
def group_size(rollout):
    return rollout.num_generations


@STEPS.step
def prompt_ids(rollout, group_size):
    return rollout.prompt_ids.repeat_interleave(group_size, dim=0)


@STEPS.step
def prompt_mask(rollout, group_size):
    return rollout.prompt_mask.repeat_interleave(group_size, dim=0)


@STEPS.step
def batch(prompt_ids, prompt_mask, rollout):
    return prompt_ids, prompt_mask, rollout.completion_ids, rollout.completion_mask


@STEPS.step
def new_logps(model, batch):
    return SCORED(model, *batch)


@STEPS.step
def ref_logps(reference, batch):
    return SCORED(reference, *batch).detach()


@STEPS.step
def old_logps(rollout):
    return rollout.old_logps


@STEPS.step
def advantages(rewards, group_size):
    return NORMALISED(rewards, group_size)


@STEPS.step
def mask(rollout):
    return rollout.completion_mask


@STEPS.step
def step_loss(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon):
    return LOSS(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon)


@STEPS.slip(
    "reference",
    "The KL is 0 whatever happens: the reference is the policy itself (score the rollout once with `model` and once, "
    "without gradient, with `reference`), or `beta` is not passed on.",
)
def reference_is_the_policy(model):
    return model


@STEPS.slip(
    "new_logps",
    "The policy is never scored: its log-probabilities come from `reference`, and `model` gets no gradient.",
)
def policy_is_the_reference(reference, batch):
    return SCORED(reference, *batch)


@STEPS.slip(
    "step_loss",
    "Policy and reference are exchanged: what is trained is `model`, what is compared with is `reference`.",
)
def models_exchanged(model, reference, batch, old_logps, advantages, mask, beta, epsilon):
    return LOSS(SCORED(reference, *batch), old_logps, advantages, mask, SCORED(model, *batch).detach(), beta, epsilon)


@STEPS.slip(
    "batch",
    "The prompts are repeated in the wrong order: `repeat` gives p0 p1 p0 p1, and the completions lie as p0 p0 p1 p1. "
    "Most completions are then scored after somebody else's prompt. Use `repeat_interleave(G, dim=0)`.",
)
def prompts_tiled(rollout, group_size):
    ids = rollout.prompt_ids.repeat(group_size, 1)
    return ids, rollout.prompt_mask.repeat(group_size, 1), rollout.completion_ids, rollout.completion_mask


@STEPS.slip(
    "batch",
    "The prompts are not repeated: there are N of them and N times G completions. Use `repeat_interleave(G, dim=0)`.",
)
def prompts_not_repeated(rollout):
    return rollout.prompt_ids, rollout.prompt_mask, rollout.completion_ids, rollout.completion_mask


@STEPS.slip("prompt_mask", "The mask of the prompts is all ones: the padding before short prompts is read as text.")
def prompt_mask_of_ones(prompt_ids):
    return torch.ones_like(prompt_ids)


@STEPS.slip(
    "advantages",
    "The rewards go into the loss as they are. Without the group's mean taken off, every completion with a positive "
    "reward is made more likely, the worse ones included. Use the group advantages.",
)
def rewards_as_advantages(rewards):
    return rewards


@STEPS.slip(
    "advantages",
    "The group size is wrong: you divided the rewards into groups of N, the number of prompts. A group is the G "
    "completions of one prompt, `rollout.num_generations`.",
)
def groups_of_the_wrong_size(rewards, rollout):
    return NORMALISED(rewards, len(rollout.prompts))


@STEPS.slip("advantages", "The whole batch is one group. A group is the G completions of one prompt.")
def one_group(rewards):
    return NORMALISED(rewards, len(rewards))


@STEPS.slip(
    "advantages", "The sign of the advantages is flipped: completions better than their group become less likely."
)
def advantages_negative(advantages):
    return -advantages


@STEPS.slip(
    "old_logps",
    "The ratio is taken against the policy as it is now. It must be against the policy that sampled, "
    "`rollout.old_logps`: after the first update the two differ, and clipping rests on it.",
)
def old_logps_are_new(new_logps):
    return new_logps.detach()


@STEPS.slip(
    "old_logps",
    "The ratio is of the log-probabilities with themselves and nothing is detached: it is 1 with a gradient of 0, and "
    "only the KL term trains. Use `rollout.old_logps`.",
)
def ratio_with_itself(new_logps):
    return new_logps


@STEPS.slip(
    "old_logps",
    "The ratio is taken against the reference. It corrects for the policy that sampled, `rollout.old_logps`; the "
    "reference belongs in the KL term only.",
)
def ratio_against_the_reference(ref_logps):
    return ref_logps


@STEPS.slip(
    "ref_logps",
    "The KL is taken against `rollout.old_logps`, the policy that sampled. It is against the frozen `reference`.",
)
def old_logps_as_reference(rollout):
    return rollout.old_logps


@STEPS.slip(
    "mask",
    "The padding counts: the mean runs over all C columns instead of each completion's own tokens, so short "
    "completions weigh less. Pass `rollout.completion_mask`.",
)
def padding_counted(mask):
    return torch.ones_like(mask)


@STEPS.slip("beta", "beta is written down as 0.02: the argument changes nothing. Use the name `beta`.")
def beta_hard_coded():
    return 0.02


@STEPS.slip("epsilon", "epsilon is written down as 0.2: the argument changes nothing. Use the name `epsilon`.")
def epsilon_hard_coded():
    return 0.2


@STEPS.slip("step_loss", "beta and epsilon are exchanged in the call of the loss: beta comes first.")
def beta_and_epsilon_exchanged(new_logps, old_logps, advantages, mask, ref_logps, beta, epsilon):
    return LOSS(new_logps, old_logps, advantages, mask, ref_logps, epsilon, beta)


@STEPS.slip(
    "step_loss", "The sign of the loss is flipped: an optimiser minimises it, and `grpo_loss` has the sign already."
)
def sign_flipped(step_loss):
    return -step_loss


@STEPS.slip(
    "new_logps",
    "The loss has no gradient: the policy's log-probabilities were made under `torch.no_grad()`. Only the reference's "
    "are.",
)
def gradient_missing(new_logps):
    return new_logps.detach()


def draw(draw: Draw) -> Case:
    N, G = draw.size(3), draw.choice([2, 3, 4])
    seeds = draw.sample(range(3), 2)
    rollout = rollout_of(draw, N, G, seeds[0])
    return {
        "model": tiny.tiny_model(seeds[0]),
        "reference": tiny.tiny_model(seeds[1]),
        "rollout": rollout,
        "rewards": torch.tensor(draw.some([0.0, 0.5, 1.0, 2.0], N * G)),
        "beta": draw.choice([0.0, 0.02, 0.1, 0.5]),
        "epsilon": draw.choice([0.1, 0.2, 0.3]),
    }


def rollout_of(draw: Draw, N: int, G: int, seed: int) -> Rollout:
    """A rollout of N prompts by a policy near the tiny model of this seed: some tokens have left the clipping range."""
    prompt_ids, prompt_mask = tiny.prompts(draw, N, draw.size(4))
    completion_ids, mask = tiny.completions(draw, N * G, draw.size(4, least=2))
    repeated = (prompt_ids.repeat_interleave(G, dim=0), prompt_mask.repeat_interleave(G, dim=0))
    with torch.no_grad():
        now = SCORED(tiny.tiny_model(seed), *repeated, completion_ids, mask)
    moved = draw.choice([0.1, 0.5]) * draw.numbers(*mask.shape, least=-1, most=1)
    return Rollout(
        prompts=[f"prompt {n}" for n in range(N)],
        completions=[f"completion {b}" for b in range(N * G)],
        num_generations=G,
        prompt_ids=prompt_ids,
        prompt_mask=prompt_mask,
        completion_ids=completion_ids,
        completion_mask=mask,
        old_logps=(now + moved) * mask,
        prompt_lengths=prompt_mask.sum(dim=1),
        lengths=mask.sum(dim=1),
        truncated=torch.zeros(len(mask), dtype=torch.bool),
        sampling=Sampling(mask.size(1)),
    )


def boundary() -> list[Case]:
    """Three groups of two without and with KL; a policy that has not moved; groups of equal rewards."""
    case = draw(Draw("boundary")) | {"beta": 0.0, "epsilon": 0.2}
    chance = Draw("three groups of two")
    rollout = rollout_of(chance, 3, 2, 0)
    case |= {"model": tiny.tiny_model(0), "reference": tiny.tiny_model(1), "rollout": rollout}
    case |= {"rewards": torch.tensor([1.0, 0.0, 0.5, 0.5, 0.0, 2.0])}
    with torch.no_grad():
        repeated = (rollout.prompt_ids.repeat_interleave(2, dim=0), rollout.prompt_mask.repeat_interleave(2, dim=0))
        now = SCORED(tiny.tiny_model(0), *repeated, rollout.completion_ids, rollout.completion_mask)
    on_policy = replace(rollout, old_logps=now)
    return [case, case | {"beta": 0.3}, case | {"rollout": on_policy}]


def smaller(case: Case) -> list[Case]:
    """One prompt with its completions."""
    rollout, G = case["rollout"], case["rollout"].num_generations
    if len(rollout.prompts) == 1:
        return []
    return [
        case | {"rollout": rollout.take([n]), "rewards": case["rewards"][n * G : (n + 1) * G]}
        for n in range(len(rollout.prompts))
    ]


EXERCISE = Exercise(
    name="GRPO step",
    function="step_loss",
    steps=STEPS,
    arguments={
        "model": Kind(),
        "reference": Kind(),
        "rollout": Kind(),
        "rewards": Numbers(),
        "beta": Scalar(usual=0.02),
        "epsilon": Scalar(usual=0.2, simple=(0.5,)),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="model",
    smaller=smaller,
    valid=lambda case: _clear(case["rewards"].view(-1, case["rollout"].num_generations)),
    needs=(kl.EXERCISE, logps.EXERCISE, advantages_exercise.EXERCISE, loss.EXERCISE),
    tolerance=2e-3,
    draws=12,
)


def _clear(groups) -> bool:
    """Rewards that are equal or clearly not: any small number may be added to their standard deviation."""
    spread = groups.std(dim=1, correction=0)
    return bool(((spread == 0) | (spread > 0.1)).all())
