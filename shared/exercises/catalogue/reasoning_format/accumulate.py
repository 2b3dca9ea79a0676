"""A gradient in parts: `accumulate(rollout, advantages, parts) -> (loss, penalty)`, and the gradient added to `.grad`.

What is looked at is the loss, and then its gradient by the log-probability of each completion. The function finds
`sequence_logps`, `gspo_loss`, `policy`, `G`, `BETA` and `EPSILON` in its notebook; others stand in for them.
"""

import torch

from shared.exercises.arguments import Numbers, Scalar, Size
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.results import NotAResult, TensorOf, named
from shared.exercises.stand_ins.speaking import SETTINGS, rollout_of, standing_in
from shared.exercises.steps import Steps

STEPS = Steps()
BETA, EPSILON = 0.1, 0.2
STAND_INS = ("sequence_logps", "gspo_loss", "policy", "G", "BETA", "EPSILON")
GRAPH_KEPT = (
    "the loss that it returns carries a gradient: the graph of every part stays in memory until the last one is done, and "
    "to save memory is what parts are for. Add up numbers, `.item()` of each part's loss."
)


def some_loss(logps, old_logps, advantages, ref_logps, beta, epsilon):
    """GSPO's loss of some completions, from (n,) tensors, without its clipping: the same box asks for GSPO's own.

    No ratio of a case leaves the range of epsilon, so that who writes the formula out gets the same.
    """
    far = ref_logps - logps
    penalty = torch.exp(far) - far - 1
    return (beta * penalty - torch.exp(logps - old_logps) * advantages).mean()


def old_logps_of(logps):
    """Those of the policy that sampled, from which this one has moved on."""
    return logps.detach() + 0.125


def ref_logps_of(logps):
    return logps.detach() - 0.5


@STEPS.step
def chunks(advantages, G, parts):
    """The completions of each part, those of its prompts."""
    return [chosen.flatten() for chosen in torch.arange(len(advantages)).view(-1, G).chunk(parts)]


@STEPS.step
def own_advantages(chunks, advantages):
    """The advantages of each part's completions."""
    return [advantages[chosen] for chosen in chunks]


@STEPS.step
def own_logps(chunks, logps):
    """The log-probabilities of each part's completions."""
    return [logps[chosen] for chosen in chunks]


@STEPS.step
def old_logps(own_logps):
    return [old_logps_of(own) for own in own_logps]


@STEPS.step
def ref_logps(own_logps):
    return [ref_logps_of(own) for own in own_logps]


@STEPS.step
def means(own_logps, old_logps, own_advantages, ref_logps):
    """The mean loss of each part."""
    return [some_loss(*of_part, BETA, EPSILON) for of_part in zip(own_logps, old_logps, own_advantages, ref_logps)]


@STEPS.step
def shares(chunks, advantages):
    return [len(chosen) / len(advantages) for chosen in chunks]


@STEPS.step
def weighted(means, shares):
    return [mean * share for mean, share in zip(means, shares)]


@STEPS.step
def backward(weighted):
    """The backward pass, which puts the gradient into `.grad`."""
    for part in weighted:
        part.backward()


@STEPS.step
def loss(backward, weighted):
    return sum(part.item() for part in weighted)


@STEPS.slip(
    "shares",
    "The parts are added up without weights: the gradient grows with the number of parts. Weight each by its share.",
)
def not_weighted(chunks):
    return [1.0] * len(chunks)


@STEPS.slip(
    "shares",
    "Each part weighs the same. A mean of means is the batch's mean only for parts of one size: weight each by its share.",
)
def equal_weights(chunks):
    return [1 / len(chunks)] * len(chunks)


@STEPS.slip("shares", "You divide by the share where you should multiply by it.")
def divided_by_share(chunks, advantages):
    return [len(advantages) / len(chosen) for chosen in chunks]


@STEPS.slip(
    "own_advantages", "Every part takes the first advantages. Those of the part's completions are `advantages[chosen]`."
)
def first_advantages(chunks, advantages):
    return [advantages[: len(chosen)] for chosen in chunks]


@STEPS.slip("backward", "The backward pass is missing: the loss is added up, and no gradient comes of it.")
def no_backward():
    return None


@STEPS.slip(
    "backward",
    "Only the last part's gradient is left: the backward pass stands behind the loop, or the gradient is cleared "
    "(`zero_grad`) in every part. Each part adds its own to what is there.",
)
def last_part_only(weighted):
    weighted[-1].backward()


@STEPS.slip("loss", "The parts' losses are not added up: you return the last one. Use `loss +=`.")
def last_loss(backward, weighted):
    return weighted[-1].item()


@STEPS.slip("loss", "The loss that you add up lacks the weight: the gradient has it, the number in the log has not.")
def loss_not_weighted(backward, means):
    return sum(part.item() for part in means)


@STEPS.slip("loss", "The loss stays 0: add each part's to it.")
def loss_stays_zero(backward):
    return 0.0


@STEPS.slip("own_advantages", "The sign of the advantages is flipped.")
def sign_flipped(own_advantages):
    return [-of_part for of_part in own_advantages]


@STEPS.slip(
    "shares",
    "Each part is divided by the number of parts. They are unequal, and there may be fewer: weight each by its share of "
    "the batch.",
)
def divided_by_parts(chunks, parts):
    return [1 / parts] * len(chunks)


@STEPS.slip(
    "backward",
    "The number that you return has the weights and the gradient has not: weight the loss before its backward pass.",
)
def gradient_not_weighted(means):
    for part in means:
        part.backward()


@STEPS.slip("loss", "The loss is weighted twice: before the backward pass, and again where it is added up.")
def loss_weighted_twice(backward, weighted, shares):
    return sum(part.item() * share for part, share in zip(weighted, shares))


@STEPS.slip(
    "old_logps",
    "The old log-probabilities are the present ones, detached: the ratio is always 1, and nothing is clipped however far "
    "the policy has moved. Take those of `sequence_logps`.",
)
def present_for_old(own_logps):
    return [own.detach() for own in own_logps]


@STEPS.slip(
    "means",
    "The old and the reference's log-probabilities are exchanged. `gspo_loss` takes the old ones second and the "
    "reference's fourth.",
)
def old_and_reference_exchanged(own_logps, old_logps, own_advantages, ref_logps):
    return means(own_logps, ref_logps, own_advantages, old_logps)


@STEPS.slip("means", "Beta and epsilon are exchanged. `gspo_loss` takes beta first.")
def beta_and_epsilon_exchanged(own_logps, old_logps, own_advantages, ref_logps):
    return [some_loss(*of_part, EPSILON, BETA) for of_part in zip(own_logps, old_logps, own_advantages, ref_logps)]


@STEPS.slip(
    "means",
    "The advantages and the reference's log-probabilities are exchanged. `gspo_loss` takes the advantages third and the "
    "reference's fourth.",
)
def advantages_and_reference_exchanged(own_logps, old_logps, own_advantages, ref_logps):
    return means(own_logps, old_logps, ref_logps, own_advantages)


def call(function, case: Case):
    """(1 + B,): the loss, and the gradient by each completion's log-probability."""
    advantages, values, G, parts = case.values()
    policy = torch.nn.Module()
    policy.logps = logps = torch.nn.Parameter(values.clone())
    if is_reference(function):
        result = (function(advantages, logps, G, parts), 0.0)
    else:
        rollout = rollout_of([f"prompt {n}" for n in range(len(advantages) // G)], [""] * len(advantages), G)

        def sequence_logps(part):
            own = logps[part.completion_ids[:, 0]]
            return own, old_logps_of(own), ref_logps_of(own)

        stand_ins = (sequence_logps, some_loss, policy, G, BETA, EPSILON)
        with standing_in(function, **dict(zip(STAND_INS, stand_ins, strict=True))):
            result = function(rollout, advantages, parts)
    if not isinstance(result, tuple) or len(result) != 2:
        raise NotAResult(f"it returns {named(result)}; return the loss and the penalty.")
    if isinstance(result[0], torch.Tensor) and result[0].requires_grad:
        raise NotAResult(GRAPH_KEPT)
    gradient = torch.zeros_like(values) if logps.grad is None else logps.grad
    return torch.cat([torch.as_tensor(result[0]).detach().float().view(1), gradient])


def draw(draw: Draw) -> Case:
    N, G = draw.size(5), draw.choice([1, 2, 3])
    return {
        "advantages": draw.numbers(N * G),
        "logps": draw.numbers(N * G, least=-3.0, most=-0.1),
        "G": G,
        "parts": draw.size(4),
    }


def boundary() -> list[Case]:
    three = {"advantages": torch.tensor([1.0, -1.0, 0.5, 0.5, 2.0, 0.0]), "logps": -torch.ones(6), "G": 2}
    return [three | {"parts": 1}, three | {"parts": 3}, three | {"parts": 2}]


EXERCISE = Exercise(
    name="accumulated gradient",
    function="accumulate",
    contract="`f(rollout, advantages, parts) -> (loss, penalty)`, with the gradient added to `.grad`.",
    steps=STEPS,
    arguments={
        "advantages": Numbers("N*G"),
        "logps": Numbers("N*G", most=0.0),
        "G": Size(axis="G", usual=8),
        "parts": Scalar(usual=1, simple=(1, 2)),
    },
    result=TensorOf("H", names=("loss",)),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["G"] > 0 and len(case["advantages"]) >= case["G"] and case["parts"] >= 1,
    call=call,
    draws=60,
    supplies=(*SETTINGS, *STAND_INS),
    shows=("shared.exercises.stand_ins.speaking",),
)
