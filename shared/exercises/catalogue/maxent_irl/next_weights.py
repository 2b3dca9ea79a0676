"""One step on the reward's weights: `next_weights(weights, features, target, visits, rate) -> weights`, (F,)."""

import numpy as np

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.worlds import drawn_numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def expected(visits, features):
    return visits @ features


@STEPS.step
def gradient(target, expected):
    return target - expected


@STEPS.step
def change(rate, gradient):
    return rate * gradient


@STEPS.step
def factor(change):
    return np.exp(change)


@STEPS.step
def updated(weights, factor):
    return weights * factor


@STEPS.slip(
    "gradient",
    "The gradient has the wrong sign: it is demonstrated minus visited, and yours pays for what is not shown.",
)
def sign_flipped(gradient):
    return -gradient


@STEPS.slip("gradient", "The features of the visits are missing: what is already matched would be pushed on for ever.")
def target_only(target):
    return target


@STEPS.slip(
    "factor", "The exponential is missing: you multiply by the change itself. The factor is exp(rate * gradient)."
)
def exponential_missing(change):
    return change


@STEPS.slip(
    "factor", "You multiply by 1 + rate * gradient. That is only the beginning of exp, and can become negative."
)
def first_order(change):
    return 1 + change


@STEPS.slip(
    "updated", "This is a step that adds. The exponentiated one multiplies each weight by exp(rate * gradient)."
)
def added(weights, change):
    return weights + change


@STEPS.slip("updated", "You add the exponential to the weights. The exponentiated step multiplies by it.")
def exponential_added(weights, factor):
    return weights + factor


@STEPS.slip("updated", "The old weights are missing: you return the factors only.")
def factors_only(factor):
    return factor


@STEPS.slip("updated", "You divide the weights by their sum. Rewards are no probabilities and keep their size.")
def made_to_sum_to_one(updated):
    return updated / updated.sum()


@STEPS.slip("change", "The rate is not used.")
def rate_ignored(gradient):
    return gradient


@STEPS.slip("change", "You divide by the rate where it multiplies.")
def divided_by_the_rate(rate, gradient):
    return gradient / rate


@STEPS.slip("rate", "The rate is written down as 0.2. Use the argument: it falls as learning goes on.")
def rate_hard_coded():
    return 0.2


@STEPS.slip(
    "expected",
    "You sum over the wrong axis, `features @ visits`: states are the rows of features, `visits @ features`.",
)
def wrong_axis(visits, features):
    return features @ visits


@STEPS.slip("factor", "The rate multiplies the exponential. It belongs into the exponent: exp(rate * gradient).")
def rate_outside(rate, gradient):
    return rate * np.exp(gradient)


@STEPS.slip("visits", "You divide the visits by their sum. They are counts of a whole walk and stay as they are.")
def visits_normalised(visits):
    return visits / visits.sum() if visits.sum() else visits


def draw(draw: Draw) -> Case:
    S, F = draw.size(), draw.size(most=3)
    return {
        "weights": drawn_numbers(draw, F, least=0.1, most=2.0),
        "features": np.eye(S) if F == S and draw.random() < 0.5 else drawn_numbers(draw, S, F),
        "target": drawn_numbers(draw, F),
        "visits": drawn_numbers(draw, S, least=0.0, most=2.0),
        "rate": draw.choice([0.2, 0.1, 0.5, 1.5]),
    }


def boundary() -> list[Case]:
    one = {"weights": np.ones(1), "features": np.ones((1, 1)), "target": np.ones(1), "visits": np.zeros(1), "rate": 0.5}
    two = {"weights": np.array([1.0, 2.0]), "features": np.eye(2), "target": np.array([1.0, 0.5])}
    return [
        one,
        one | {"visits": np.ones(1)},
        one | {"weights": np.full(1, 2.0), "visits": np.full(1, 2.0)},
        two | {"visits": np.array([0.5, 1.0]), "rate": 0.2},
    ]


EXERCISE = Exercise(
    name="next weights",
    function="next_weights",
    contract="`f(weights (F,), features (S, F), target (F,), visits (S,), rate) -> weights (F,)`.",
    steps=STEPS,
    arguments={
        "weights": Numbers("F", least=0.1),
        "features": Numbers("S F"),
        "target": Numbers("F"),
        "visits": Numbers("S", least=0.0),
        "rate": Scalar(usual=0.2, simple=(0.5, 1.0), most=1.0),
    },
    result=ArrayOf("F"),
    draw=draw,
    boundary=boundary,
)
