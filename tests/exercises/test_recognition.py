"""Explanations of a function that fails, from its outcomes alone."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.calling import Outcome
from shared.exercises.exercise import Exercise
from shared.exercises.recognition import find_explanations
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
ALWAYS, NEVER = (lambda: True), (lambda: False)


@STEPS.step
def doubled(x):
    return 2 * x


@STEPS.slip("doubled", "You take x once.")
def once(x):
    return x


@STEPS.slip("doubled", "You take x once.")
def once_again(x):
    return x.clone()


@STEPS.slip("doubled", "You read what is not there.")
def raises(x):
    return x[len(x) + 5]


@STEPS.slip("doubled", "You take three times x, of one number alone.")
def raises_for_two(x):
    return 3 * x if len(x) == 1 else x[9]


EXERCISE = Exercise("a", "a", "", STEPS, {"x": Numbers("B")}, TensorOf("B"), draw=lambda draw: {}, gradient="x")
CASES = [{"x": torch.tensor([1.0, 2.0])}, {"x": torch.tensor([3.0])}]


def outcomes(function):
    from shared.exercises.calling import call

    return [call(EXERCISE, function, case) for case in CASES]


def found(given, time_left=ALWAYS):
    return [[slip.name for slip in slips] for slips in find_explanations(EXERCISE, CASES, given, time_left)]


def test_of_two_slips_in_the_same_words_the_first_stands_for_both():
    """Catches a slip that is counted under another name after a new one was added."""
    assert found(outcomes(lambda x: x)) == [["once"]] and found(outcomes(lambda x: x), NEVER) == []


def test_the_first_message_of_a_function_that_always_raises_has_to_agree():
    """Catches a slip that is told of any error, and the last message compared with that of the first case."""
    own = outcomes(lambda x: x[len(x) + 5])
    assert own[0].raised != own[1].raised and found(own) == [["raises"]]
    assert found([Outcome(raised="it raised KeyError: 'a'")] * 2) == []


def test_every_outcome_has_to_be_explained():
    assert found([*outcomes(lambda x: x)[:1], Outcome(value=torch.ones(1).double())]) == []
    without_gradient = outcomes(lambda x: x.detach())
    assert found(without_gradient) == []


def test_an_error_of_its_own_does_not_hide_a_slip_where_a_function_raises_in_some_cases():
    """Catches a slip that is told only to those who raise with the very words of the reference."""

    def students(x):
        return 3 * x if len(x) == 1 else {}["x"]

    assert found(outcomes(students)) == [["raises_for_two"]]
