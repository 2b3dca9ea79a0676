"""The surrogate clipped at two bounds: `surrogate(ratio, advantages, epsilon, epsilon_high) -> objective (B, C)`."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS, column
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def lower(epsilon):
    return 1 - epsilon


@STEPS.step
def upper(epsilon_high):
    return 1 + epsilon_high


STEPS.step(column)


@STEPS.step
def clipped_ratio(ratio, lower, upper):
    return ratio.clamp(lower, upper)


@STEPS.step
def free(ratio, column):
    return ratio * column


@STEPS.step
def clipped(clipped_ratio, column):
    return clipped_ratio * column


@STEPS.step
def objective(free, clipped):
    return torch.minimum(free, clipped)


@STEPS.slip("upper", "The upper bound is 1 + epsilon: `epsilon_high` is not used, so nothing is clipped higher.")
def one_epsilon(epsilon):
    return 1 + epsilon


@STEPS.slip(
    "lower",
    "The lower bound is 1 - epsilon_high. Only the upper one is raised; the lower one stays 1 - epsilon, or tokens "
    "would be pushed towards probability 0.",
)
def lower_moved_too(epsilon_high):
    return 1 - epsilon_high


@STEPS.slip("lower", "There is no lower bound: with a negative advantage a token is pushed down without end.")
def no_lower_bound(ratio):
    return ratio.min().item() - 1


@STEPS.slip("upper", "There is no upper bound: with a positive advantage a token is pushed up without end.")
def no_upper_bound(ratio):
    return ratio.max().item() + 1


@STEPS.slip(
    "objective",
    "You take the larger of the two terms. The objective is the smaller one: with the larger, clipping limits nothing.",
)
def maximum_of_the_two(free, clipped):
    return torch.maximum(free, clipped)


@STEPS.slip(
    "objective",
    "You use the clipped term alone, without the minimum. A token that has moved too far in the wrong direction then "
    "gets no gradient to bring it back.",
)
def clipped_alone(clipped):
    return clipped


@STEPS.slip("clipped", "You clip the ratio times the advantage. Clip the ratio alone, then multiply.")
def product_clipped(free, lower, upper):
    return free.clamp(lower, upper)


STEPS.add(*LOSS_SLIPS.named("negative", "averaged"))


@STEPS.slip(
    "ratio", "The gradient is missing: the ratio is detached, or the computation stands inside `torch.no_grad()`."
)
def gradient_missing(ratio):
    return ratio.detach()


@STEPS.slip(
    "objective",
    "The smaller of the two ratios is taken and then multiplied. Multiply both by A first: for a negative A the smaller "
    "product has the larger ratio.",
)
def smaller_ratio(ratio, clipped_ratio, free, clipped):
    return torch.where(ratio < clipped_ratio, free, clipped)


@STEPS.slip(
    "clipped_ratio",
    "The two bounds are exchanged: yours are 1 - epsilon_high and 1 + epsilon. `epsilon_high` belongs to the upper one.",
)
def bounds_exchanged(ratio, epsilon, epsilon_high):
    return ratio.clamp(1 - epsilon_high, 1 + epsilon)


@STEPS.slip("objective", "There is no clipping: the ratio acts without bound. Take the minimum with the clipped term.")
def not_clipped(free):
    return free


@STEPS.slip(
    "clipped_ratio",
    "The ratio is clipped around 0, from -epsilon to epsilon_high. It is 1 where the policies agree: clip it from "
    "1 - epsilon to 1 + epsilon_high.",
)
def clipped_around_zero(ratio, epsilon, epsilon_high):
    return ratio.clamp(-epsilon, epsilon_high)


@STEPS.slip(
    "column",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. Write "
    "`advantages[:, None]`.",
)
def advantages_along_tokens(advantages):
    return advantages[None, :]


@STEPS.slip("objective", "The two terms are averaged. Take the smaller one of each token.")
def terms_averaged(free, clipped):
    return (free + clipped) / 2


@STEPS.slip("free", "The advantage is missing in the free term: multiply both ratios by it.")
def free_without_advantage(ratio):
    return ratio


@STEPS.slip("upper", "The upper bound is epsilon_high itself. It is 1 + epsilon_high.")
def one_missing_above(epsilon_high):
    return epsilon_high


@STEPS.slip(
    "clipped_ratio",
    "The larger of the two epsilons is used on both sides. The range is from 1 - epsilon to 1 + epsilon_high.",
)
def larger_epsilon_twice(ratio, epsilon, epsilon_high):
    return ratio.clamp(1 - max(epsilon, epsilon_high), 1 + max(epsilon, epsilon_high))


@STEPS.slip(
    "clipped_ratio",
    "For negative advantages the two widths change sides in yours. The range is the same for all: from 1 - epsilon to "
    "1 + epsilon_high.",
)
def sides_by_the_advantage(ratio, column, epsilon, epsilon_high):
    above = torch.where(column > 0, epsilon_high, epsilon)
    below = torch.where(column > 0, epsilon, epsilon_high)
    return torch.minimum(torch.maximum(ratio, 1 - below), 1 + above)


def draw(draw: Draw) -> Case:
    B = draw.size()
    C = draw.size()
    return {
        "ratio": draw.numbers(B, C, least=0.2, most=2.5),
        "advantages": draw.numbers(B),
        "epsilon": draw.choice([draw.number(0.05, 0.35), draw.number(0.05, 0.35), 1.0]),
        "epsilon_high": draw.choice([draw.number(0.4, 0.9), draw.number(0.4, 0.9), 9.0]),
    }


def boundary() -> list[Case]:
    ranges = {"epsilon": 0.2, "epsilon_high": 0.28}
    around = torch.tensor([[0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5]])
    return [
        {"ratio": torch.ones(1, 1), "advantages": torch.ones(1), **ranges},
        {"ratio": around, "advantages": torch.ones(1), **ranges},
        {"ratio": around, "advantages": -torch.ones(1), **ranges},
        {
            "ratio": around.expand(2, 7).clone(),
            "advantages": torch.tensor([0.0, 2.0]),
            "epsilon": 0.4,
            "epsilon_high": 0.1,
        },
    ]


EXERCISE = Exercise(
    name="clipped surrogate",
    function="surrogate",
    contract="`f(ratio (B, C), advantages (B,), epsilon, epsilon_high) -> (B, C)`, clipped at 1 - epsilon and 1 + "
    "epsilon_high.",
    steps=STEPS,
    arguments={
        "ratio": Numbers("B C", least=0.0),
        "advantages": Numbers("B"),
        "epsilon": Scalar(usual=0.2),
        "epsilon_high": Scalar(usual=0.28),
    },
    result=TensorOf("B C"),
    gradient="ratio",
    draw=draw,
    boundary=boundary,
)
