"""The loss with one ratio for each completion: `gspo_loss(logps, old_logps, advantages, ref_logps, beta, epsilon)`."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.dots.grpo_loss import clipping
from shared.exercises.catalogue.dots.grpo_loss import ratio as ratios
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
OF_TOKENS = "ratio_of_sequences"  # a slip of a ratio for each token, which sums them up

for step in (ratios.log_ratio, ratios.ratio, *clipping.CLIPPING):
    STEPS.step(step)


@STEPS.step
def distance(ref_logps, logps):
    return ref_logps - logps


@STEPS.step
def penalty(distance):
    return torch.exp(distance) - distance - 1


@STEPS.step
def per_completion(surrogate, penalty, beta):
    return beta * penalty - surrogate


@STEPS.step
def loss(per_completion):
    return per_completion.mean()


STEPS.add(*(slip for slip in ratios.SLIPS if slip.name != OF_TOKENS), *clipping.SLIPS)


@STEPS.slip("surrogate", "The sign of the objective is flipped: what is to be made large has a minus in a loss.")
def objective_minimised(surrogate):
    return -surrogate


@STEPS.slip("distance", "The penalty's difference is upside down: d is ref_logps - logps.")
def distance_upside_down(ref_logps, logps):
    return logps - ref_logps


@STEPS.slip("distance", "The penalty is taken against the policy that sampled. It is against `ref_logps`.")
def distance_from_old(old_logps, logps):
    return old_logps - logps


@STEPS.slip("penalty", "The penalty is halved in yours, which halves beta. Asked for is e^d - d - 1 as it is.")
def penalty_halved(distance):
    return (torch.exp(distance) - distance - 1) / 2


@STEPS.slip("penalty", "The penalty is d squared over 2. Asked for is e^d - d - 1.")
def square_instead(distance):
    return distance**2 / 2


@STEPS.slip("penalty", "The penalty has no gradient: it is detached, and holds nothing back.")
def penalty_detached(distance):
    return (torch.exp(distance) - distance - 1).detach()


@STEPS.slip("beta", "The sign of the penalty is flipped: in a loss, beta times the penalty is added.")
def penalty_rewarded(beta):
    return -beta


@STEPS.slip("beta", "The penalty is missing: beta changes nothing.")
def penalty_forgotten():
    return 0.0


@STEPS.slip("loss", "You add up the completions. The loss is their mean.")
def added_up(per_completion):
    return per_completion.sum()


STEPS.add(*LOSS_SLIPS.named("gradient_missing", "advantages_normalised", "beta_forgotten", "not_averaged"))


@STEPS.slip("penalty", "The penalty is minus d, which is negative for single completions. Asked for is e^d - d - 1.")
def difference_instead(distance):
    return -distance


@STEPS.slip("penalty", "The -1 of the penalty is missing: where the two agree it is 1, and should be 0.")
def without_minus_one(distance):
    return torch.exp(distance) - distance


@STEPS.slip("penalty", "The -d of the penalty is missing: e^d - 1 alone has mean 0 whatever the policies are.")
def without_distance(distance):
    return torch.exp(distance) - 1


@STEPS.slip("per_completion", "The penalty is multiplied by the advantage. It stands beside the smaller term.")
def penalty_times_advantage(surrogate, penalty, beta, advantages):
    return beta * penalty * advantages - surrogate


@STEPS.slip(
    "penalty",
    "The differences are averaged, and one k3 is made of their mean: those of opposite sign cancel. Make a k3 for each "
    "completion, then average.",
)
def of_the_mean_difference(distance):
    mean = distance.mean()
    return torch.exp(mean) - mean - 1


@STEPS.slip(
    "loss",
    "You average over the completions with an advantage other than 0 alone. The others count in B, and their penalty in "
    "the sum.",
)
def over_those_with_an_advantage(per_completion, advantages):
    counts = advantages != 0
    return (per_completion * counts).sum() / counts.sum().clamp(min=1)


@STEPS.slip(
    "distance",
    "The penalty is between the reference and the policy that sampled: the policy that learns does not occur, and nothing "
    "holds it back.",
)
def reference_from_old(ref_logps, old_logps):
    return ref_logps - old_logps


@STEPS.slip(
    "per_completion",
    "The penalty is taken off the advantage, so the ratio multiplies it and the clip cuts it. It stands beside the smaller "
    "term, by itself.",
)
def penalty_in_the_advantage(ratio, clipped_ratio, advantages, penalty, beta):
    paid = advantages - beta * penalty
    return -torch.minimum(ratio * paid, clipped_ratio * paid)


@STEPS.slip(
    "loss", "The smaller of two means is taken. Take the smaller term of each completion, then the mean of these."
)
def smaller_mean(free, clipped, penalty, beta):
    return beta * penalty.mean() - torch.minimum(free.mean(), clipped.mean())


def draw(draw: Draw) -> Case:
    B = draw.size(4)
    old = draw.numbers(B, least=-2, most=-0.1)
    far = draw.choice([0.3, 1.0])
    return {
        "logps": (old + far * draw.numbers(B, least=-1, most=1)).clamp(max=-0.01),
        "old_logps": old,
        "advantages": draw.numbers(B),
        "ref_logps": old + draw.numbers(B, least=-1, most=1),
        "beta": draw.choice([0.05, 0.4, 2.5, 0.0]),
        "epsilon": draw.choice([0.1, 0.2, 0.35]),
    }


def boundary() -> list[Case]:
    old = torch.tensor([-1.0, -0.5, -1.5, -0.7, -0.9])
    new = old + torch.tensor([0.0, 0.5, -0.6, -0.4, 0.7])
    ref = old + torch.tensor([0.0, -0.3, 0.8, 0.2, 0.1])
    numbers = {"beta": 0.5, "epsilon": 0.2}
    whole = {
        "logps": new,
        "old_logps": old,
        "advantages": torch.tensor([1.0, 1.5, 0.5, -1.0, -2.0]),
        "ref_logps": ref,
        **numbers,
    }
    ones = [{name: value[i : i + 1] for name, value in whole.items() if name not in numbers} for i in range(5)]
    alike = {name: value[:1].expand(2).clone() for name, value in whole.items() if name not in numbers}
    far = whole | {"old_logps": torch.tensor([0.0, -0.5, -1.5, -0.7, -2.5]), "epsilon": 0.4, "beta": 0.1}
    return [*(one | numbers for one in ones), whole, far, alike | numbers]


EXERCISE = Exercise(
    name="GSPO loss",
    function="gspo_loss",
    contract="`f(logps (B,), old_logps (B,), advantages (B,), ref_logps (B,), beta, epsilon) -> loss`, one number.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B", most=0.0),
        "old_logps": Numbers("B", most=0.0),
        "advantages": Numbers("B"),
        "ref_logps": Numbers("B", most=0.0),
        "beta": Scalar(usual=0.6),
        "epsilon": Scalar(usual=0.2, most=1.0),
    },
    result=TensorOf(""),
    gradient="logps",
    draw=draw,
    boundary=boundary,
)
