"""Bias, noise and cosine of an estimator: `held_against(draws, exact) -> {"bias": ..., "noise": ..., "cosine": ...}`.

draws: (D, K), a gradient in each row.    exact: (K,), the gradient that they estimate.
"""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ByName
from shared.exercises.steps import Steps

STEPS = Steps()
NAMES = ("bias", "noise", "cosine")


@STEPS.step
def mean(draws):
    return draws.mean(dim=0)


@STEPS.step
def length(exact):
    return exact.norm()


@STEPS.step
def bias(mean, exact, length):
    return (mean - exact).norm() / length


@STEPS.step
def around(draws, mean):
    """The distance of each draw from the mean draw."""
    return (draws - mean).norm(dim=1)


@STEPS.step
def noise(around, length):
    return around.square().mean().sqrt() / length


@STEPS.step
def cosine(mean, exact):
    return mean @ exact / (mean.norm() * exact.norm())


@STEPS.step
def result(bias, noise, cosine):
    return {"bias": bias, "noise": noise, "cosine": cosine}


@STEPS.slip(
    "bias",
    "The bias compares two lengths. A mean gradient of the right length may point elsewhere: take the length of the "
    "difference of the two.",
)
def lengths_compared(mean, length):
    return (mean.norm() - length).abs() / length


@STEPS.slip("bias", "The bias is not over the length of the exact gradient.")
def bias_not_divided(mean, exact):
    return (mean - exact).norm()


@STEPS.slip("bias", "The bias is squared: the root of the summed squares is missing.")
def bias_squared(mean, exact, length):
    return (mean - exact).square().sum() / length


@STEPS.slip(
    "bias", "The bias is a mean over the numbers of the gradient. It is the length of a vector: a root of a sum."
)
def bias_of_numbers(mean, exact, length):
    return (mean - exact).square().mean().sqrt() / length


@STEPS.slip(
    "around",
    "The noise is measured from the exact gradient, so that the bias counts in it too. Noise is how far draws lie from "
    "their own mean.",
)
def from_the_exact(draws, exact):
    return (draws - exact).norm(dim=1)


@STEPS.slip("around", "The noise has no mean taken off: this is the size of a draw.")
def from_nothing(draws):
    return draws.norm(dim=1)


@STEPS.slip("noise", "The noise is not over the length of the exact gradient.")
def noise_not_divided(around):
    return around.square().mean().sqrt()


@STEPS.slip(
    "noise", "The noise is the mean distance. It is the root of the mean square, so that bias and noise add up."
)
def mean_distance(around, length):
    return around.mean() / length


@STEPS.slip("noise", "The noise is squared: its root is missing.")
def noise_squared(around, length):
    return around.square().mean() / length


@STEPS.slip(
    "noise", "The noise is over all numbers of all draws: its mean runs over draws, and within one it is a sum."
)
def noise_of_numbers(draws, mean, length):
    return (draws - mean).square().mean().sqrt() / length


@STEPS.slip("length", "You divide by the length of the mean gradient, which hides a gradient that is too long.")
def of_the_mean(mean):
    return mean.norm()


@STEPS.slip("cosine", "The cosine is a mean over draws. It is that of the mean gradient: noise is told by itself.")
def mean_cosine(draws, exact):
    return torch.cosine_similarity(draws, exact[None], dim=1).mean()


@STEPS.slip("cosine", "The cosine is not divided by both lengths.")
def inner_product(mean, exact):
    return mean @ exact


@STEPS.slip(
    "cosine", "The cosine is divided by the square of the exact length, which makes it a share and not an angle."
)
def share(mean, exact):
    return mean @ exact / exact.norm() ** 2


@STEPS.slip("cosine", "The cosine has lost its sign: a gradient that points backwards looks like a good one.")
def sign_lost(cosine):
    return cosine.abs()


@STEPS.slip("mean", "You add the draws up in place of their mean.")
def summed(draws):
    return draws.sum(dim=0)


@STEPS.slip("mean", "You take the median of the draws. What an estimator is in expectation is its mean.")
def median(draws):
    return draws.median(dim=0).values


@STEPS.slip(
    "noise",
    "The noise divides by D - 1, as `torch.std` does unless told otherwise. The mean is over all D draws, `correction=0`: "
    "then bias and noise add up to the error.",
)
def noise_by_one_less(around, length):
    return (around.square().sum() / (len(around) - 1)).sqrt() / length


def draw(draw: Draw) -> Case:
    D, K = draw.size(7, least=2), draw.size(4)
    return {
        "draws": draw.numbers(D, K) + draw.numbers(1, K, least=-2.0, most=2.0),
        "exact": draw.numbers(K),
    }


def boundary() -> list[Case]:
    return [
        {"draws": torch.tensor([[2.0, 0.0], [2.0, 0.0]]), "exact": torch.tensor([2.0, 0.0])},
        {"draws": torch.tensor([[1.0, 2.0], [3.0, -2.0]]), "exact": torch.tensor([4.0, 0.0])},
        {"draws": torch.tensor([[0.0, 2.0], [0.0, 4.0], [3.0, 3.0]]), "exact": torch.tensor([3.0, 0.5])},
        {"draws": torch.tensor([[-1.0, 0.5], [-2.0, 1.0], [-6.0, 0.0]]), "exact": torch.tensor([1.0, 1.0])},
        {"draws": torch.tensor([[-1.0, -0.5], [-2.0, -1.5]]), "exact": torch.tensor([-1.0, -3.0])},
    ]


def valid(case: Case) -> bool:
    """Two draws at least, for one has no noise. A length of 0 has no direction, and nothing can be divided by it."""
    draws, exact = case["draws"], case["exact"]
    return len(draws) > 1 and bool(draws.mean(dim=0).norm() > 0.05 and exact.norm() > 0.05)


EXERCISE = Exercise(
    name="bias, noise and cosine",
    function="held_against",
    contract='`f(draws (D, K), exact (K,)) -> {"bias": ..., "noise": ..., "cosine": ...}`, the first two over the exact '
    "gradient's length.",
    steps=STEPS,
    arguments={"draws": Numbers("D K"), "exact": Numbers("K")},
    result=ByName("E", names=NAMES),
    draw=draw,
    boundary=boundary,
    doubles=True,
    valid=valid,
)
