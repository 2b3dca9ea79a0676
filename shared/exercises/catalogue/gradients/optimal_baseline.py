"""The baseline of least variance: `optimal_baseline(p, R, score_norms) -> b`, (N, 1) from (N, K) each."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.tables import probabilities, reward_numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def lengths(score_norms):
    return score_norms


@STEPS.step
def shares(p, lengths):
    """The weight of each completion in the baseline."""
    return p * lengths


@STEPS.step
def above(shares, R):
    return (shares * R).sum(dim=1, keepdim=True)


@STEPS.step
def below(shares):
    return shares.sum(dim=1, keepdim=True)


@STEPS.step
def baseline(above, below):
    return above / below


@STEPS.slip(
    "lengths",
    "This is the mean reward, the value: the lengths of the scores are missing. A completion whose score is long "
    "makes more of the variance, and counts more.",
)
def value_instead(score_norms):
    return torch.ones_like(score_norms)


@STEPS.slip("lengths", "You square the lengths again: `score_norms` are squared lengths already.")
def squared_again(score_norms):
    return score_norms**2


@STEPS.slip("lengths", "You take the root: the formula has squared lengths, which is what `score_norms` are.")
def root_taken(score_norms):
    return score_norms.sqrt()


@STEPS.slip("shares", "The probabilities are missing: both sums are expectations, over completions that p draws.")
def without_probabilities(lengths):
    return lengths


@STEPS.slip(
    "below",
    "The denominator is missing: divide by the mean squared length, or the baseline is no average of rewards.",
)
def not_divided(p):
    return torch.ones(p.size(0), 1)


@STEPS.slip("below", "You divide by the plain sum of the squared lengths. It is an expectation: weigh it by p too.")
def plain_sum_below(lengths):
    return lengths.sum(dim=1, keepdim=True)


@STEPS.slip("baseline", "Numerator and denominator are exchanged: the reward belongs above.")
def upside_down(above, below):
    return below / above


@STEPS.slip("baseline", "The sign is flipped: the estimator subtracts the baseline itself.")
def sign_flipped(baseline):
    return -baseline


@STEPS.slip(
    "baseline",
    "You return the shape (N,). Keep the axis, `keepdim=True`: minus a table (N, K) it would be spread the wrong way.",
)
def axis_lost(baseline):
    return baseline[:, 0]


@STEPS.slip("baseline", "You return one baseline for all prompts. Each prompt has its own, (N, 1).")
def one_for_all(above, below):
    return (above.sum() / below.sum()).expand_as(above)


@STEPS.slip("below", "The sum below the line runs over all prompts. Each prompt has its own: dim=1.")
def below_of_all_prompts(shares, above):
    return shares.sum().expand_as(above)


@STEPS.slip("above", "Above the line the probabilities are missing: it is an expectation, like the one below.")
def plain_sum_above(lengths, R):
    return (lengths * R).sum(dim=1, keepdim=True)


@STEPS.slip("above", "Above the line you take a mean over the completions. p weighs already: take the sum.")
def averaged_above(shares, R):
    return (shares * R).mean(dim=1, keepdim=True)


@STEPS.slip("above", "The rewards are squared. The derivative has them once.")
def rewards_squared(shares, R):
    return (shares * R**2).sum(dim=1, keepdim=True)


@STEPS.slip("above", "Above the line the squared lengths are missing: it is E[r ||s||²].")
def lengths_missing_above(p, R):
    return (p * R).sum(dim=1, keepdim=True)


@STEPS.slip(
    "below",
    "You add a small number to the denominator, which is never 0 here. It moves the baseline, and most where scores are "
    "short. Leave it out.",
)
def small_number_added(shares):
    return shares.sum(dim=1, keepdim=True) + 1e-4


def draw(draw: Draw) -> Case:
    N, K = draw.size(), draw.size()
    return {
        "p": probabilities(draw, N, K),
        "R": reward_numbers(draw, N, K),
        "score_norms": draw.numbers(N, K, least=0.1, most=9.0),
    }


def boundary() -> list[Case]:
    p = torch.tensor([[0.25, 0.75], [0.9, 0.1]])
    R = torch.tensor([[1.0, 0.0], [0.5, -1.0]])
    norms = torch.tensor([[4.0, 1.0], [0.25, 2.0]])
    return [
        {"p": torch.ones(1, 1), "R": torch.full((1, 1), 2.0), "score_norms": torch.full((1, 1), 4.0)},
        {"p": p[:1], "R": R[:1], "score_norms": norms[:1]},
        {"p": p, "R": R, "score_norms": norms},
        {"p": p, "R": R + 1, "score_norms": norms},
    ]


EXERCISE = Exercise(
    name="optimal baseline",
    function="optimal_baseline",
    contract="`f(p (N, K), R (N, K), score_norms (N, K)) -> baseline (N, 1)`.",
    steps=STEPS,
    arguments={
        "p": Numbers("N B", least=0.05, most=1.0),
        "R": Numbers("N B"),
        "score_norms": Numbers("N B", least=0.1),
    },
    result=TensorOf("N 1"),
    draw=draw,
    boundary=boundary,
    doubles=True,
)
