"""CISPO's objective: `cispo_objective(logps, old_logps, advantages, bound) -> objective (B, C)`."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS, column
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, old_logps):
    return logps - old_logps


@STEPS.step
def ratio(log_ratio):
    return log_ratio.exp()


@STEPS.step
def bounded(ratio, bound):
    return ratio.clamp(max=bound)


@STEPS.step
def weight(bounded):
    """A number: the gradient does not pass through it."""
    return bounded.detach()


STEPS.step(column)


@STEPS.step
def objective(weight, column, logps):
    return weight * column * logps


@STEPS.slip(
    "weight",
    "The gradient passes through the weight too. Stop it there, with `detach`: CISPO moves the log-probability alone, "
    "by a number that the weight only sets the size of.",
)
def not_stopped(bounded):
    return bounded


@STEPS.slip(
    "weight",
    "The gradient is missing: the log-probability is detached, or the computation stands inside `torch.no_grad()`. Only "
    "the weight is a fixed number.",
)
def all_stopped(bounded, logps):
    logps.requires_grad and logps.register_hook(lambda gradient: gradient * 0)
    return bounded.detach()


@STEPS.slip("bounded", "There is no bound: a token that has become a hundred times likelier weighs a hundred.")
def no_bound(ratio):
    return ratio


@STEPS.slip("bounded", "The bound is 1 + `bound` in yours. The argument is the bound itself, not a distance from 1.")
def one_and_the_bound(ratio, bound):
    return ratio.clamp(max=1 + bound)


@STEPS.slip(
    "bounded", "The weight has a lower bound too. A ratio below 1 stays as it is: CISPO holds it from above only."
)
def held_from_below(ratio, bound):
    return ratio.clamp(1 / bound, bound)


@STEPS.slip(
    "bounded",
    "Above the bound the weight is 0, as under a clip. CISPO's point is that such a token keeps its pull, of bounded "
    "size: the smaller of ratio and bound.",
)
def dropped_above(ratio, bound):
    return torch.where(ratio > bound, 0.0, ratio)


STEPS.add(*LOSS_SLIPS.named("upside_down"))


@STEPS.slip("ratio", "The weight is made of log-probabilities: `exp` of their difference is the ratio.")
def without_exp(log_ratio):
    return log_ratio


@STEPS.slip(
    "objective",
    "The log-probability is missing: with a weight that is a fixed number, it is what the gradient comes from.",
)
def without_logps(weight, column, logps):
    return weight * column + 0 * logps


@STEPS.slip(
    "objective", "You multiply by the ratio where the log-probability belongs: the ratio is in the weight already."
)
def times_the_ratio(weight, column, logps, old_logps):
    return weight * column * (logps - old_logps).exp()


STEPS.add(*LOSS_SLIPS.named("negative", "averaged"))


@STEPS.slip(
    "objective",
    "The product of ratio and advantage is bounded: with an advantage of 2 the ratio stops at half of the bound. Bound the "
    "ratio alone.",
)
def product_bounded(ratio, column, bound, logps):
    return (ratio * column).clamp(-bound, bound).detach() * logps


@STEPS.slip(
    "column",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. Write "
    "`advantages[:, None]`.",
)
def advantages_along_tokens(advantages):
    return advantages


@STEPS.slip(
    "objective",
    "The product of ratio and advantage is bounded from above: with a negative advantage nothing is, and with one of 2 the "
    "ratio stops at half of the bound. Bound the ratio alone.",
)
def product_bounded_above(ratio, column, bound, logps):
    return (ratio * column).clamp(max=bound).detach() * logps


@STEPS.slip(
    "bounded", "The bound holds the logarithm of the ratio, so the ratio goes up to e to the bound. Take `exp` first."
)
def logarithm_bounded(log_ratio, bound):
    return log_ratio.clamp(max=bound).exp()


@STEPS.slip(
    "objective", "The objective has the old log-probability, which is fixed. It is the policy's own that is to move."
)
def of_the_old_policy(weight, column, old_logps):
    return weight * column * old_logps


@STEPS.slip(
    "objective",
    "The smaller of the free and the bounded product is taken, as under the clip: with a negative advantage that is the "
    "free one. Bound the ratio whatever the advantage is.",
)
def smaller_product(ratio, bounded, column, logps):
    return torch.minimum(ratio * column, bounded * column).detach() * logps


@STEPS.slip(
    "objective",
    "The smaller of two products is taken, of the ratio and of the bound with the advantage: with a negative advantage that "
    "has the larger of ratio and bound. Bound the ratio before you multiply.",
)
def smaller_product_with_the_bound(ratio, column, bound, logps):
    return torch.minimum(ratio * column, bound * column).detach() * logps


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    logps = draw.numbers(B, C, least=-3.0, most=0.0)
    return {
        "logps": logps,
        "old_logps": logps - draw.numbers(B, C, least=-1.2, most=1.6) * (logps < 0),  # in the padding both are 0
        "advantages": draw.numbers(B),
        "bound": draw.number(1.1, 3.0),
    }


def boundary() -> list[Case]:
    ratios = torch.tensor([[0.25, 0.5, 1.0, 2.0, 6.0]])
    logps = torch.full((1, 5), -1.5)
    around = {"logps": logps, "old_logps": logps - ratios.log(), "advantages": torch.ones(1), "bound": 3.0}
    return [
        {"logps": -torch.ones(1, 1), "old_logps": torch.zeros(1, 1), "advantages": torch.ones(1), "bound": 5.0},
        around,
        around | {"advantages": -torch.ones(1)},
        {
            "logps": logps.expand(2, 5).clone(),
            "old_logps": (logps - ratios.log()).expand(2, 5).clone(),
            "advantages": torch.tensor([0.0, 2.0]),
            "bound": 1.5,
        },
    ]


EXERCISE = Exercise(
    name="CISPO's objective",
    function="cispo_objective",
    contract="`f(logps (B, C), old_logps (B, C), advantages (B,), bound) -> (B, C)`, log-probabilities with a bounded "
    "ratio as their fixed weight.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C", most=0.0),
        "old_logps": Numbers("B C", most=0.0),
        "advantages": Numbers("B"),
        "bound": Scalar(usual=5.0, simple=(1.0, 2.0)),
    },
    result=TensorOf("B C"),
    gradient="logps",
    draw=draw,
    boundary=boundary,
)
