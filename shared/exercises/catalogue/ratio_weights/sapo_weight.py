"""SAPO's weight: `sapo_weight(ratio, advantages, tau_pos, tau_neg) -> weight`, of one shape with its first two arguments."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def tau(advantages, tau_pos, tau_neg):
    return torch.where(advantages > 0, tau_pos, tau_neg)


@STEPS.step
def distance(ratio):
    return ratio - 1


@STEPS.step
def gate(tau, distance):
    return torch.sigmoid(tau * distance)


@STEPS.step
def slope(gate):
    """The derivative of 4 / tau x gate in the ratio: the tau of the chain rule takes the divisor away."""
    return 4 * gate * (1 - gate)


@STEPS.step
def weight(slope, ratio):
    return slope * ratio


@STEPS.slip(
    "weight",
    "The ratio is missing: this is the slope of the objective in the ratio. In log pi it is the ratio times that.",
)
def slope_in_the_ratio(slope):
    return slope


@STEPS.slip(
    "weight",
    "This is the objective, 4 / tau times the gate, and not its slope: the gradient is multiplied by the slope.",
)
def value_instead(gate, tau):
    return 4 / tau * gate


@STEPS.slip(
    "slope", "The 4 is missing: at a ratio of 1 the weight must be 1, and a gate of one half has the slope 1/4."
)
def without_four(gate):
    return gate * (1 - gate)


@STEPS.slip("slope", "You keep the divisor tau. The chain rule gives a factor tau, which takes it away.")
def divisor_kept(gate, tau):
    return 4 / tau * gate * (1 - gate)


@STEPS.slip(
    "slope", "You keep a factor tau. The objective is divided by tau, which takes the chain rule's factor away."
)
def factor_kept(gate, tau):
    return 4 * tau * gate * (1 - gate)


@STEPS.slip("slope", "You take the gate as its own slope. The derivative of a sigmoid is gate x (1 - gate).")
def gate_as_slope(gate):
    return 4 * gate


@STEPS.slip("distance", "The gate is at the ratio. It opens around 1: take the ratio minus 1.")
def not_around_one(ratio):
    return ratio


@STEPS.slip("distance", "The gate is at the logarithm of the ratio. SAPO takes the ratio minus 1.")
def of_the_logarithm(ratio):
    return ratio.log()


@STEPS.slip("tau", "The two temperatures are exchanged: `tau_pos` belongs to positive advantages.")
def exchanged(advantages, tau_pos, tau_neg):
    return torch.where(advantages > 0, tau_neg, tau_pos)


@STEPS.slip("tau", "There is one temperature in yours, `tau_pos`. Where the advantage is not positive it is `tau_neg`.")
def positive_alone(advantages, tau_pos):
    return torch.full_like(advantages, tau_pos)


@STEPS.slip("tau", "There is one temperature in yours, `tau_neg`. Where the advantage is positive it is `tau_pos`.")
def negative_alone(advantages, tau_neg):
    return torch.full_like(advantages, tau_neg)


@STEPS.slip("tau", "The temperature goes by the ratio. It goes by the sign of the advantage.")
def by_the_ratio(ratio, tau_pos, tau_neg):
    return torch.where(ratio > 1, tau_pos, tau_neg)


STEPS.add(*LOSS_SLIPS.named("times_advantage"))


@STEPS.slip("weight", "The sign is flipped: the weight of a ratio of 1 is 1.")
def negative(weight):
    return -weight


@STEPS.slip("gate", "The brackets are wrong: you take tau times the ratio, and 1 off that. It is tau x (ratio - 1).")
def brackets_wrong(tau, ratio):
    return torch.sigmoid(tau * ratio - 1)


@STEPS.slip(
    "tau", "One tau serves the whole batch, by the sign of the mean advantage. Each token's goes by its own advantage."
)
def by_the_mean_advantage(advantages, tau_pos, tau_neg):
    return torch.full_like(advantages, tau_pos if advantages.mean() > 0 else tau_neg)


@STEPS.slip("tau", "An advantage of exactly 0 gets `tau_pos`. Positive ones alone do: at 0 and below it is `tau_neg`.")
def zero_as_positive(advantages, tau_pos, tau_neg):
    return torch.where(advantages >= 0, tau_pos, tau_neg)


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    return {
        "ratio": draw.numbers(B, C, least=0.1, most=4.0),
        "advantages": draw.numbers(B, C),
        "tau_pos": draw.number(0.5, 1.4),
        "tau_neg": draw.number(1.5, 3.0),
    }


def boundary() -> list[Case]:
    ratio = torch.tensor([[0.25, 1.0, 3.0]])
    taus = {"tau_pos": 1.0, "tau_neg": 2.0}
    return [
        {"ratio": torch.ones(1, 1), "advantages": torch.ones(1, 1), **taus},
        {"ratio": ratio, "advantages": torch.ones(1, 3), **taus},
        {"ratio": ratio, "advantages": -torch.ones(1, 3), **taus},
        {"ratio": ratio, "advantages": torch.zeros(1, 3), **taus},
        {"ratio": 20 * ratio, "advantages": torch.tensor([[1.0, -1.0, 1.0]]), "tau_pos": 0.5, "tau_neg": 4.0},
    ]


EXERCISE = Exercise(
    name="SAPO's weight",
    function="sapo_weight",
    contract="`f(ratio (B, C), advantages (B, C), tau_pos, tau_neg) -> (B, C)`, the slope of the gated objective in log pi.",
    steps=STEPS,
    arguments={
        "ratio": Numbers("B C", least=0.0),
        "advantages": Numbers("B C"),
        "tau_pos": Scalar(usual=1.0, simple=(1.0, 0.5)),
        "tau_neg": Scalar(usual=1.05, simple=(2.0, 1.0)),
    },
    result=TensorOf("B C"),
    draw=draw,
    boundary=boundary,
    doubles=True,
    ranks=(1, 3, 1, 1, 1, 1),
    valid=lambda case: case["tau_pos"] > 0 and case["tau_neg"] > 0,
)
