"""Slopes of the three estimators of the KL: `slopes(log_r) -> {"k1": ..., "k2": ..., "k3": ...}`, shaped like log_r."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ByName
from shared.exercises.steps import Steps

STEPS = Steps()
NAMES = ("k1", "k2", "k3")


@STEPS.step
def of_k1(log_r):
    return torch.ones_like(log_r)


@STEPS.step
def of_k2(log_r):
    return -log_r


@STEPS.step
def of_k3(log_r):
    return 1 - log_r.exp()


@STEPS.step
def slopes(of_k1, of_k2, of_k3):
    return {"k1": of_k1, "k2": of_k2, "k3": of_k3}


@STEPS.slip(
    "slopes",
    "These are the derivatives in log_r. Asked for are those in log pi, which lowers log_r = log pi_ref - log pi: each "
    "has the other sign.",
)
def by_log_r(slopes):
    return {name: -slope for name, slope in slopes.items()}


@STEPS.slip("slopes", "These are the values of the three estimators. Asked for are their derivatives in log pi.")
def values_instead(log_r):
    return {"k1": -log_r, "k2": log_r**2 / 2, "k3": log_r.exp() - 1 - log_r}


@STEPS.slip(
    "of_k1", "The slope of k1 is 0 in your answer. Its mean under the policy is 0; the slope itself is 1 everywhere."
)
def k1_flat(log_r):
    return torch.zeros_like(log_r)


@STEPS.slip("of_k1", "The sign of k1's slope is flipped: k1 = log pi - log pi_ref rises with log pi.")
def k1_falls(log_r):
    return -torch.ones_like(log_r)


@STEPS.slip("of_k1", "The slope of k1 does not depend on log_r: k1 is a straight line.")
def k1_bent(log_r):
    return -log_r


@STEPS.slip("of_k2", "The sign of k2's slope is flipped: k2 = log_r² / 2, and log_r falls when log pi rises.")
def k2_sign(log_r):
    return log_r


@STEPS.slip("of_k2", "k2's slope is twice too large: the half in log_r² / 2 takes away the 2 of the square.")
def k2_doubled(log_r):
    return -2 * log_r


@STEPS.slip("of_k3", "The sign of k3's slope is flipped: below the reference, where log_r > 0, it pulls log pi up.")
def k3_sign(log_r):
    return log_r.exp() - 1


@STEPS.slip("of_k3", "k3's slope lacks its 1, which comes from the -log_r: at log_r = 0 the slope is 0.")
def k3_without_one(log_r):
    return -log_r.exp()


@STEPS.slip("of_k3", "In k3's slope the ratio is upside down: exp(log_r), not exp(-log_r).")
def k3_upside_down(log_r):
    return 1 - (-log_r).exp()


@STEPS.slip("of_k3", "k3's slope is that of k2: near log_r = 0 they agree, far away they do not.")
def k3_as_k2(log_r):
    return -log_r


@STEPS.slip("of_k2", "Of k2 you give the value, log_r² / 2. Asked for is its derivative in log pi.")
def k2_itself(log_r):
    return log_r**2 / 2


@STEPS.slip("of_k3", "Of k3 you give the value. Asked for is its derivative in log pi.")
def k3_itself(log_r):
    return log_r.exp() - 1 - log_r


@STEPS.slip("of_k3", "The 1 of k3's slope has the wrong sign: -log_r gives +1 in log pi.")
def k3_one_subtracted(log_r):
    return -log_r.exp() - 1


@STEPS.slip("of_k2", "k2's slope is halved: the half in log_r² / 2 takes away the 2 of the square, and 1 is left.")
def k2_halved(log_r):
    return -log_r / 2


def draw(draw: Draw) -> Case:
    far = draw.choice([0.3, 1.0, 3.0])
    return {"log_r": draw.numbers(draw.size(), draw.size(), least=-far, most=far)}


def boundary() -> list[Case]:
    return [
        {"log_r": torch.zeros(1, 1)},
        {"log_r": torch.ones(1, 1)},
        {"log_r": torch.tensor([[-1.0, 0.5], [2.0, 0.0]])},
    ]


EXERCISE = Exercise(
    name="slopes of k1, k2, k3",
    function="slopes",
    contract='`f(log_r) -> {"k1": ..., "k2": ..., "k3": ...}`, the derivatives in log pi.',
    steps=STEPS,
    arguments={"log_r": Numbers("N B")},
    result=ByName("E N B", names=NAMES),
    draw=draw,
    boundary=boundary,
    doubles=True,
    ranks=(1, 3),
)
