"""Noisy choices: `prefers_first(first, second, noise, uniform) -> booleans`, (N,) each but noise."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
TIE = 1e-4  # so near to the probability a number from 0 to 1 may fall on either side by rounding
PAIRS = [(-1, -1, 0.4), (-1, -1, 0.6), (0, -1, 0.7), (0, -1, 0.75), (-1, 0, 0.2)]


@STEPS.step
def difference(first, second):
    return first - second


@STEPS.step
def scaled(difference, noise):
    return difference / noise


@STEPS.step
def probability(scaled):
    return torch.sigmoid(scaled)


@STEPS.step
def chosen(probability, uniform):
    return uniform < probability


@STEPS.slip("difference", "The difference is upside down: the worse completion would be chosen more often.")
def upside_down(first, second):
    return second - first


@STEPS.slip("difference", "Only the first reward counts in yours. A choice depends on the difference of the two.")
def first_alone(first):
    return first


@STEPS.slip("scaled", "The noise is missing: divide the difference by it.")
def noise_missing(difference):
    return difference


@STEPS.slip("scaled", "You multiply by the noise: choices would become surer the noisier they are. Divide by it.")
def noise_multiplies(difference, noise):
    return difference * noise


@STEPS.slip(
    "probability", "The better completion always wins in yours: it is the sigmoid that the uniform numbers are below."
)
def no_noise(scaled):
    return (scaled > 0).float()


@STEPS.slip("probability", "The better one is chosen with probability one half: the rewards do not count.")
def fair_coin(scaled):
    return torch.full_like(scaled, 0.5)


@STEPS.slip(
    "chosen", "The comparison is upside down: a uniform number is below p with probability p, and above it with 1 - p."
)
def compared_upside_down(probability, uniform):
    return uniform > probability


@STEPS.slip("chosen", "One uniform number decides for all pairs. Each has its own.")
def one_number_for_all(probability, uniform):
    return uniform[:1] < probability


@STEPS.slip(
    "probability", "You divide the probability by the noise. Divide the difference of the rewards, before the sigmoid."
)
def probability_divided(difference, noise):
    return torch.sigmoid(difference) / noise


@STEPS.slip("scaled", "Only the second reward is divided by the noise: put the difference in brackets.")
def brackets_missing(first, second, noise):
    return first - second / noise


@STEPS.slip(
    "chosen",
    "The first one wins for the large drawn numbers: as often as it should, and for the wrong ones. It wins where the "
    "number is below its probability.",
)
def large_numbers_win(probability, uniform):
    return uniform > 1 - probability


@STEPS.slip("scaled", "The noise is added to the difference. Divide by it.")
def noise_added(difference, noise):
    return difference + noise


@STEPS.slip("probability", "The sigmoid is missing: the difference itself is no probability.")
def sigmoid_missing(scaled):
    return scaled


@STEPS.slip(
    "probability", "You compare sigmoids of each reward. It is the sigmoid of their difference, divided by the noise."
)
def sigmoids_shared_out(first, second, noise):
    one, other = torch.sigmoid(first / noise), torch.sigmoid(second / noise)
    return one / (one + other)


@STEPS.slip("scaled", "Only the first reward is divided by the noise. Divide the difference.")
def first_alone_divided(first, second, noise):
    return first / noise - second


@STEPS.slip("scaled", "The noise is squared, or divided by twice. Divide the difference by it once.")
def noise_squared(difference, noise):
    return difference / noise**2


@STEPS.slip(
    "probability",
    "You divide by the noise how far the probability lies from one half. Divide the difference of the rewards, before the "
    "sigmoid.",
)
def drawn_to_one_half(difference, noise):
    return 0.5 + (torch.sigmoid(difference) - 0.5) / noise


@STEPS.slip(
    "difference", "One probability decides all pairs, that of the mean rewards. Each pair has a margin of its own."
)
def mean_margin(first, second):
    return (first.mean() - second.mean()).expand_as(first)


@STEPS.slip(
    "difference",
    "The difference has lost its sign: this says whether the better one of a pair is chosen. Asked for is the first one.",
)
def better_one(first, second):
    return (first - second).abs()


def draw(draw: Draw) -> Case:
    N = draw.size()
    least, most = draw.choice([(0.01, 0.99)] * 4 + [(0.001, 0.006), (0.994, 0.999)])
    far = draw.choice([0.0] * 4 + [-400.0])  # where the exponential of either reward is 0
    return {
        "first": draw.numbers(N, least=-4, most=2) + far,
        "second": draw.numbers(N, least=-4, most=2) + far,
        "noise": draw.choice([0.5, 1.0, 1.5, 3.0, 9.0]),
        "uniform": draw.numbers(N, least=least, most=most),
    }


def boundary() -> list[Case]:
    """Equal rewards with a number on either side of one half, and a better one that loses."""
    cases = []
    for first, second, uniform in PAIRS:
        cases.append(
            {
                "first": torch.tensor([float(first)]),
                "second": torch.tensor([float(second)]),
                "noise": 1.0,
                "uniform": torch.tensor([uniform]),
            }
        )
    return cases


def valid(case: Case) -> bool:
    """No uniform number so near to its probability that rounding decides, and none outside of 0 to 1."""
    inside = bool(((case["uniform"] > 0) & (case["uniform"] < 1)).all())
    if not inside or case["noise"] <= 0:
        return False
    probability = torch.sigmoid((case["first"] - case["second"]) / case["noise"])
    return bool(((probability - case["uniform"]).abs() > TIE).all())


EXERCISE = Exercise(
    name="noisy choices",
    function="prefers_first",
    contract="`f(first, second, noise, uniform) -> (N,)` booleans, (N,) each but noise.",
    steps=STEPS,
    arguments={
        "first": Numbers("N"),
        "second": Numbers("N"),
        "noise": Scalar(usual=1.0, simple=(2.0,)),
        "uniform": Numbers("N", least=0.0, most=1.0),
    },
    result=TensorOf("N", holds="booleans"),
    draw=draw,
    boundary=boundary,
    valid=valid,
)
