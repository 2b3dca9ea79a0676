"""Potential-based shaping: `potential_shaping(potential, terminal, discount) -> payments`, (S, S).

Ng, Harada and Russell, "Policy Invariance Under Reward Transformations" (ICML 1999).
"""

import numpy as np

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.worlds import States, drawn_numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def phi(potential, terminal):
    """The potential, 0 where a walk ends."""
    return np.where(np.isin(np.arange(len(potential)), terminal), 0.0, potential)


@STEPS.step
def here(phi):
    """The potential of the state that is left, a row a state."""
    return phi[:, None]


@STEPS.step
def there(phi, discount):
    """The discounted potential of the state that is reached, a column a state."""
    return discount * phi[None, :]


@STEPS.step
def payments(here, there):
    return there - here


@STEPS.slip(
    "phi",
    "The potential of terminal states is used. There it counts as 0: otherwise more is paid in all for walks that end "
    "early, or late, and another policy may be the best.",
)
def ends_have_a_potential(potential):
    return potential


@STEPS.slip("phi", "You keep the potential of the terminal states and set all others to 0: it is the other way round.")
def only_ends_have_a_potential(potential, phi):
    return potential - phi


@STEPS.slip("here", "The potential of the state that is left is missing: who comes back to a high one is paid again.")
def nothing_left(here):
    return 0 * here


@STEPS.slip("there", "The potential of the state that is reached is missing.")
def nothing_reached(there):
    return 0 * there


@STEPS.slip(
    "there",
    "The discount is missing. Later payments count less, so without it what a step gains is not what a later one takes back.",
)
def discount_ignored(phi):
    return phi[None, :]


@STEPS.slip("discount", "The discount is written down as 0.9. Use the argument.")
def discount_hard_coded():
    return 0.9


@STEPS.slip(
    "here", "The state that is left is discounted as well. The discount belongs to the state that is reached alone."
)
def both_discounted(here, discount):
    return discount * here


@STEPS.slip("payments", "The sign is flipped: you pay for steps to a lower potential.")
def sign_flipped(payments):
    return -payments


@STEPS.slip("payments", "You add the two potentials. What is paid is their difference, the later one discounted.")
def added(here, there):
    return there + here


@STEPS.slip("payments", "Rows and columns are changed over: F[s, s'] is paid for the step from s, the row, to s'.")
def transposed(payments):
    return payments.T


@STEPS.slip(
    "payments",
    "Nothing is paid for a step into a terminal state. Only the potential there is 0: what the state before had is taken "
    "back.",
)
def nothing_into_the_end(payments, terminal):
    return np.where(np.isin(np.arange(len(payments)), terminal), 0.0, payments)


def with_rows_that_are_read(function, case: Case):
    """The payments for steps out of states that have any: a walk ends in the terminal ones."""
    found = function(*case.values())
    if np.shape(found) != (len(case["potential"]),) * 2:
        return found
    return np.where(np.isin(np.arange(len(found)), case["terminal"])[:, None], 0.0, found)


@STEPS.slip(
    "payments",
    "The discount multiplies the potential of the state that is left. It belongs to the one that is reached.",
)
def discount_on_the_wrong_one(phi, discount):
    return phi[None, :] - discount * phi[:, None]


@STEPS.slip("payments", "You take the size of the payments. A step to a lower potential costs.")
def absolute(payments):
    return np.abs(payments)


def draw(draw: Draw) -> Case:
    S = draw.size(most=4)
    ends = draw.sample(range(S), min(S, draw.choice([0, 1, 1, 2])))
    return {"potential": drawn_numbers(draw, S), "terminal": ends, "discount": draw.choice([0.9, 0.5, 0.7, 1.0, 0.0])}


def boundary() -> list[Case]:
    return [
        {"potential": np.array([1.0, 2.0]), "terminal": [], "discount": 0.5},
        {"potential": np.array([1.0, 2.0]), "terminal": [1], "discount": 0.5},
        {"potential": np.array([2.0, 1.0]), "terminal": [1], "discount": 0.9},
        {"potential": np.array([0.5, 1.0, 0.25]), "terminal": [0], "discount": 0.5},
    ]


EXERCISE = Exercise(
    name="potential-based shaping",
    function="potential_shaping",
    contract="`f(potential (S,), terminal, discount) -> payments (S, S)` for a step from each state to each.",
    steps=STEPS,
    arguments={"potential": Numbers("S"), "terminal": States(), "discount": Scalar(usual=0.9, simple=(0.5,))},
    result=ArrayOf("S S"),
    draw=draw,
    boundary=boundary,
    call=with_rows_that_are_read,
)
