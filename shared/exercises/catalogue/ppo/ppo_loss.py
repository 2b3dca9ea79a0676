"""PPO's objective as a loss: the clipped surrogate of each token, the critic's loss, the entropy and the KL, in one sum."""

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.dots.grpo_loss import clipping
from shared.exercises.catalogue.dots.grpo_loss import ratio as ratios
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, plain_call
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
AGAINST_A_REFERENCE = "ratio_against_the_reference"  # a slip of GRPO's loss, which is handed `ref_logps`

for step in (ratios.log_ratio, ratios.ratio, *clipping.CLIPPING):
    STEPS.step(step)


@STEPS.step
def bonus(entropy, entropy_coef):
    return entropy_coef * entropy


@STEPS.step
def penalty(kl, beta):
    return beta * kl


@STEPS.step
def per_token(surrogate, bonus, penalty):
    return penalty - surrogate - bonus


@STEPS.step
def averaged(per_token, completion_mask):
    return (per_token * completion_mask).sum() / completion_mask.sum()


@STEPS.step
def critics(critic_loss, value_coef):
    return value_coef * critic_loss


@STEPS.step
def loss(averaged, critics):
    return averaged + critics


STEPS.add(*(slip for slip in ratios.SLIPS if slip.name != AGAINST_A_REFERENCE), *clipping.SLIPS)


@STEPS.slip(
    "surrogate",
    "The sign of the surrogate is flipped: an optimiser minimises, so the loss has minus the surrogate. As it stands, "
    "training makes bad tokens more likely.",
)
def surrogate_minimised(surrogate):
    return -surrogate


@STEPS.slip("bonus", "The sign of the entropy is flipped: the loss falls as the entropy grows, so it is taken off.")
def entropy_punished(bonus):
    return -bonus


@STEPS.slip("bonus", "The entropy is missing: take entropy_coef times it off each token's loss.")
def entropy_forgotten(entropy):
    return torch.zeros_like(entropy)


@STEPS.slip("entropy_coef", "The entropy is not multiplied by entropy_coef: it counts as if that were 1.")
def entropy_coef_forgotten():
    return 1.0


@STEPS.slip("penalty", "The KL is missing: beta changes nothing. Add beta times the KL to each token's loss.")
def kl_forgotten(kl):
    return torch.zeros_like(kl)


@STEPS.slip("critics", "The critic's loss is missing: it is never trained. Add value_coef times it.")
def critic_forgotten(critic_loss):
    return torch.zeros_like(critic_loss)


@STEPS.slip("critics", "The sign of the critic's loss is flipped: it is an error, to be minimised like the rest.")
def critic_maximised(critics):
    return -critics


@STEPS.slip("value_coef", "The critic's loss is not multiplied by value_coef: it counts as if that were 1.")
def value_coef_forgotten():
    return 1.0


@STEPS.slip("averaged", "You mask, but divide by all positions, padding included. Divide by the sum of the mask.")
def divided_by_all_positions(per_token, completion_mask):
    return (per_token * completion_mask).mean()


@STEPS.slip("averaged", "You divide by the number of tokens but add up the padding too. Multiply by the mask first.")
def padding_in_the_sum(per_token, completion_mask):
    return per_token.sum() / completion_mask.sum()


@STEPS.slip("averaged", "You sum over the tokens. Divide by how many there are, `completion_mask.sum()`.")
def summed(per_token, completion_mask):
    return (per_token * completion_mask).sum()


@STEPS.slip(
    "averaged",
    "You average each completion first and then the completions, as GRPO does. Here it is one mean over all real tokens.",
)
def mean_of_means(per_token, completion_mask):
    return ((per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)).mean()


@STEPS.slip("averaged", "You return one number for each completion. The loss is one number, of which `backward` goes.")
def not_averaged(per_token, completion_mask):
    return (per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.slip("kl", "The KL is detached: it then shows in the loss and holds nothing back.")
def kl_detached(kl):
    return kl.detach()


@STEPS.slip("critic_loss", "The critic's loss is detached, so the critic never learns.")
def critic_detached(critic_loss):
    return critic_loss.detach()


STEPS.add(
    *LOSS_SLIPS.named("gradient_missing", "mask_ignored", "advantages_normalised", "beta_forgotten", "kl_rewarded")
)


@STEPS.slip("averaged", "Entropy and KL are averaged over all places, padding included. Mask them like the surrogate.")
def terms_not_masked(surrogate, bonus, penalty, completion_mask):
    return (penalty - bonus).mean() - (surrogate * completion_mask).sum() / completion_mask.sum()


@STEPS.slip(
    "advantages",
    "You whiten the advantages of the minibatch's real tokens. They come in as they are to be used.",
)
def whitened(advantages, completion_mask):
    own = advantages[completion_mask.bool()]
    return (advantages - own.mean()) / (own.std() + 1e-8)


@STEPS.slip(
    "critics", "The critic's loss is multiplied by value_coef and by a half. The half is in `critic_loss` already."
)
def critic_halved(critics):
    return critics / 2


@STEPS.slip("advantages", "The advantages are averaged over each completion. Every token has its own.")
def advantages_averaged(advantages, completion_mask):
    of_rows = (advantages * completion_mask).sum(dim=1, keepdim=True) / completion_mask.sum(dim=1, keepdim=True)
    return of_rows.expand_as(advantages)


@STEPS.slip("per_token", "beta and the entropy's coefficient are exchanged: beta weighs the KL, the other the entropy.")
def coefficients_exchanged(surrogate, entropy, kl, entropy_coef, beta):
    return entropy_coef * kl - surrogate - beta * entropy


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    old_logps = draw.numbers(B, C, least=-3.0, most=-0.05)
    moved = draw.choice([0.0, 0.1, 0.5, 1.0]) * draw.numbers(B, C, least=-1.5, most=1.5)
    return {
        "logps": draw.garbage(old_logps + moved, mask),
        "old_logps": draw.garbage(old_logps, mask),
        "advantages": draw.garbage(draw.numbers(B, C), mask),
        "completion_mask": mask,
        "critic_loss": draw.numbers(1, least=0.0, most=2.0)[0],
        "entropy": draw.garbage(draw.numbers(B, C, least=0.0), mask),
        "kl": draw.garbage(draw.numbers(B, C, least=0.0), mask),
        "epsilon": draw.choice([0.1, 0.15, 0.2, 0.3, 0.5]),
        "value_coef": draw.choice([0.1, 0.5, 2.0, 0.0]),
        "entropy_coef": draw.choice([0.0, 0.01, 0.1, 0.3]),
        "beta": draw.choice([0.0, 0.04, 0.1, 0.5, 1.5]),
    }


def boundary() -> list[Case]:
    """One token with a ratio below, inside and above the range, for each sign; then each of the other terms alone."""
    cases = [one_token(log_ratio, advantage) for advantage in (1.0, -1.0) for log_ratio in (-0.7, 0.0, 0.7)]
    return [*cases, one_token(critic_loss=1.0), one_token(entropy=20.0), one_token(kl=1.0)]


def one_token(
    log_ratio: float = 0.0, advantage: float = 0.0, critic_loss: float = 0.0, entropy: float = 0.0, kl: float = 0.0
) -> Case:
    return {
        "logps": torch.tensor([[-1.0 + log_ratio]]),
        "old_logps": torch.tensor([[-1.0]]),
        "advantages": torch.tensor([[advantage]]),
        "completion_mask": torch.ones(1, 1, dtype=torch.long),
        "critic_loss": torch.tensor(critic_loss),
        "entropy": torch.tensor([[entropy]]),
        "kl": torch.tensor([[kl]]),
        "epsilon": 0.3,
        "value_coef": 0.25,
        "entropy_coef": 0.1,
        "beta": 0.5,
    }


def each_term_moves(function, case: Case):
    """Call with a critic's loss, an entropy and a KL that have gradients: in a case, one by `logps` in their place."""
    moving = case["logps"] - case["logps"].detach()  # 0, with a gradient
    terms = {
        "critic_loss": case["critic_loss"] + (moving * case["completion_mask"]).sum() / 4,
        "entropy": case["entropy"] + moving / 2,
        "kl": case["kl"] + moving,
    }
    return plain_call(function, case | terms)


EXERCISE = Exercise(
    name="PPO loss",
    function="ppo_loss",
    contract="`f(logps, old_logps, advantages, completion_mask, critic_loss, entropy, kl, epsilon, value_coef, "
    "entropy_coef, beta) -> loss`; the critic's loss is a number, the first four and entropy and KL are (B, C).",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C"),
        "old_logps": Numbers("B C"),
        "advantages": Numbers("B C"),
        "completion_mask": Mask("B C"),
        "critic_loss": Numbers(),
        "entropy": Numbers("B C", least=0.0),
        "kl": Numbers("B C", least=0.0),
        "epsilon": Scalar(usual=0.2, simple=(0.5,), most=1.0),
        "value_coef": Scalar(usual=0.5),
        "entropy_coef": Scalar(usual=0.0),
        "beta": Scalar(usual=0.1),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="logps",
    call=each_term_moves,
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
