"""Two outcomes beside each other: the first difference counts, and a gradient at a tie is no mistake."""

import pytest
import torch

from checker.grading.judge.oracle.partial_credit import IN_WORDS, NO_ANSWER
from shared.exercises.arguments import Numbers
from shared.exercises.calling import Outcome
from shared.exercises.comparing import (
    Difference,
    compare,
    confirm_difference,
    difference_mask,
    first_difference,
    near,
    nearby_cases,
    reference_outcome,
    same_outcome,
)
from shared.exercises.exercise import Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

ONES = torch.ones(2)
TWO = Outcome(value=2 * ONES, gradient=ONES)


@pytest.mark.parametrize(
    ("actual", "expected", "difference"),
    [
        (TWO, TWO, None),
        (Outcome(raised="it raised", value=2 * ONES), TWO, Difference.RAISED),
        (Outcome(complaint="a dict"), TWO, Difference.NO_RESULT),
        (Outcome(value=torch.ones(1, 2)), TWO, Difference.SHAPE),
        (Outcome(value=ONES, gradient=ONES, harm="h"), TWO, Difference.VALUE),
        (Outcome(value=2 * ONES, gradient=-ONES, harm="h"), TWO, Difference.GRADIENT),
        (Outcome(value=2 * ONES), TWO, Difference.GRADIENT),
        (Outcome(value=2 * ONES, harm="h"), TWO, Difference.SIDE_EFFECT),
        (Outcome(value=2 * ONES, complaint="a list"), TWO, Difference.TYPE),
        (Outcome(value=2 * ONES, gradient=-ONES, complaint="ints"), TWO, Difference.GRADIENT),
        (Outcome(value=2 * ONES, gradient=ONES, harm="h", complaint="a list"), TWO, Difference.SIDE_EFFECT),
        (Outcome(value=2 * ONES, gradient=ONES, complaint="a list"), TWO, Difference.TYPE),
        (Outcome(value=2 * ONES), Outcome(value=2 * ONES, gradient=0 * ONES), None),
        (Outcome(value="a"), Outcome(value="a"), None),
        (Outcome(value="b"), Outcome(value="a"), Difference.VALUE),
        (Outcome(value="0.12350"), Outcome(value="0.12349"), None),
        (TWO, Outcome(value="a"), Difference.VALUE),
        (Outcome(value="a", harm="h"), Outcome(value="a"), Difference.SIDE_EFFECT),
    ],
)
def test_the_first_difference_is_told(actual, expected, difference):
    """Catches a harm told in the place of a wrong number, a list that is blamed for the gradient that lists lack."""
    assert first_difference(actual, expected, 1e-4) == difference


def test_each_difference_has_its_word_in_grading():
    """Catches cases that are wrong and that no sentence of partial credit counts: it knows a difference by its text."""
    assert {*IN_WORDS} == {*map(str, Difference), NO_ANSWER}


def test_only_harm_and_type_leave_the_numbers_right():
    assert [one for one in Difference if one.has_right_numbers] == [Difference.SIDE_EFFECT, Difference.TYPE]


@pytest.mark.parametrize(
    ("nearby", "confirmed"),
    [((Difference.GRADIENT,) * 2, True), ((None, Difference.GRADIENT), False), ((Difference.GRADIENT, None), False)],
)
def test_a_gradient_at_a_tie_alone_is_no_mistake(nearby, confirmed):
    """Catches `max(a, b)` with a = b, whose gradient may go to either, and a wrong number that the neighbours excuse."""
    assert confirm_difference(Difference.GRADIENT, nearby) == (Difference.GRADIENT if confirmed else None)
    assert confirm_difference(Difference.VALUE, nearby) == Difference.VALUE and confirm_difference(None, nearby) is None


RAISED = Outcome(raised="it raised")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (RAISED, Outcome(raised="something else"), True),
        (RAISED, TWO, False),
        (TWO, RAISED, False),
        (Outcome(value="a"), Outcome(value="a"), True),
        (Outcome(value="a"), Outcome(value="b"), False),
        (Outcome(value="0.12350 of 3"), Outcome(value="0.12349 of 3"), True),
        (Outcome(value="+0.00000"), Outcome(value="-0.00000"), True),
        (Outcome(value="0.1235 of 3"), Outcome(value="0.1255 of 3"), False),
        (Outcome(value="0.1235 of 3"), Outcome(value="0.1235 of 4"), False),
        (Outcome(value="0.5"), Outcome(value="0.5 0.5"), False),
        (Outcome(value="a"), TWO, False),
        (TWO, Outcome(value="a"), False),
        (Outcome(), Outcome(), False),
        (Outcome(), TWO, False),
        (TWO, Outcome(value=2 * ONES, gradient=ONES, complaint="a list"), True),
        (TWO, Outcome(value=2 * ONES, gradient=-ONES), False),
        (TWO, Outcome(value=2 * ONES), False),
        (Outcome(value=2 * ONES), TWO, False),
        (Outcome(value=2 * ONES), Outcome(value=2 * ONES), True),
        (Outcome(value=2 * ONES), Outcome(value=2 * ONES, gradient=0 * ONES), True),
        (Outcome(value=2 * ONES, gradient=0 * ONES), Outcome(value=2 * ONES), True),
        (Outcome(value=ONES), Outcome(value=2 * ONES), False),
    ],
)
def test_two_functions_that_did_the_same(one, other, same):
    """Catches a slip named for a function that does something else, and one digit of a text that rounding decides."""
    assert same_outcome(one, other, 1e-4) is same


def test_near_is_by_the_largest_expected_number_and_never_below_one():
    """Catches 0.00005 that differs from 0, and a scale that an infinity or the student's own number sets."""
    zero, infinite = torch.zeros(2), torch.tensor([torch.inf, 1000.0])
    assert near(zero + 0.00005, zero, 1e-4) and not near(zero + 0.0002, zero, 1e-4)
    assert near(infinite + torch.tensor([0.0, 0.05]), infinite, 1e-4)
    assert not near(torch.tensor([1.0, 1000.0]), torch.tensor([2.0, 1.0]), 1e-1)
    assert near(-2000 * ONES - 0.1, -2000 * ONES, 1e-4)
    assert difference_mask(torch.tensor([1.0, 2.0]), ONES, 1e-4).tolist() == [False, True]
    assert not near(ONES, torch.ones(1), 1e-4) and near(None, None, 1) and not near(None, ONES, 1)
    assert near(torch.zeros(0), torch.zeros(0), 1e-4) and near(torch.inf * ONES, torch.inf * ONES, 1e-4)


def test_nearby_numbers_are_moved_apart_a_little_in_both_directions():
    """Catches a tie that stays one: equal numbers are moved by different amounts, of each argument by others."""
    case = {"a": torch.zeros(2, 2, dtype=torch.float64), "b": torch.zeros(4), "n": torch.tensor([1]), "text": "x"}
    up, down = nearby_cases(case)
    for name in ("a", "b"):
        moved = up[name].flatten()
        assert bool(((moved >= 0.005) & (moved <= 0.015)).all()) and len(set(moved.tolist())) == 4
        assert torch.equal(down[name], -up[name]) and up[name].shape == case[name].shape
    assert not torch.allclose(up["a"].flatten().float(), up["b"])
    _, many = next(nearby_cases({"a": torch.zeros(1), "b": torch.zeros(200)})).values()
    assert 0.005 <= many.min() < 0.0055 and 0.0145 < many.max() <= 0.015
    assert up["n"] is case["n"] and up["text"] == "x" and not case["a"].any()


STEPS = Steps()


@STEPS.step
def size(x):
    return x.abs()


@STEPS.slip("size", "You double it.")
def doubled(size):
    return 2 * size


SIZE = Exercise("size", "size", "", STEPS, {"x": Numbers("B")}, TensorOf("B"), draw=lambda draw: {}, gradient="x")
AT_A_TIE = {"x": torch.tensor([0.0, 2.0])}


@pytest.mark.parametrize(
    ("function", "difference"),
    [
        (lambda x: x.abs(), None),
        (lambda x: torch.where(x < 0, -x, x), None),  # another gradient at 0 alone
        (lambda x: x.abs().detach(), Difference.GRADIENT),
        (lambda x: x.abs() + 0.01, Difference.VALUE),
        (lambda x: x.abs() + 0.00001, None),
        (lambda x: x.abs().tolist(), Difference.TYPE),
    ],
)
def test_a_function_is_compared_with_the_reference_in_a_case(function, difference):
    """Catches a function compared with itself, a gradient that is not asked for, a tie that is a mistake."""
    compared = compare(SIZE, function, AT_A_TIE)
    assert compared.case is AT_A_TIE and compared.difference == difference
    assert compared.expected.value.tolist() == [0, 2] and compared.expected.gradient.tolist() == [0, 1.5]
    assert torch.equal(compared.actual.value, torch.as_tensor(function(AT_A_TIE["x"])).double())


def test_the_reference_makes_the_slips_that_are_asked_for():
    """Catches a slip that is told of every function, because the reference never made it."""
    plain = reference_outcome(SIZE, AT_A_TIE)
    slipped = reference_outcome(SIZE, AT_A_TIE, tuple(STEPS.slips))
    assert plain.value.tolist() == [0, 2] and slipped.value.tolist() == [0, 4] and slipped.gradient.tolist() == [0, 3]
    assert reference_outcome(SIZE, AT_A_TIE, with_gradient=False).gradient is None


def test_nan_is_equal_to_nan_and_to_nothing_else():
    """Catches a case of the reference's nan in which no function would be right, and one in which all would be."""
    nan = torch.tensor([torch.nan, 1.0])
    assert near(nan, nan, 1e-4) and not near(ONES, nan, 1e-4) and not near(nan, ONES, 1e-4)
    infinite = torch.full((1,), torch.inf)
    assert not near(torch.zeros(1), infinite, 1e-4) and not near(infinite, torch.zeros(1), 1e-4)


def test_a_large_number_has_no_tolerance_of_its_own():
    """Catches the tolerance of a library that is added to ours."""
    assert not near(torch.tensor([1000.006]).double(), torch.tensor([1000.0]).double(), 1e-6)


def test_an_error_is_no_result_and_no_result_is_none():
    """Catches a function that raises, or gives a text, taken for one that does so otherwise."""
    assert not same_outcome(Outcome(raised="it raised", value="a"), Outcome(value="a"), 1e-4)
    assert not same_outcome(Outcome(), Outcome(value="a"), 1e-4) and not same_outcome(Outcome(value=ONES), Outcome(), 1)
