"""Two outcomes beside each other: the first difference counts, and a gradient at a tie is no mistake."""

import pytest
import torch

from shared.exercises.calling import Outcome
from shared.exercises.comparing import (
    Difference,
    confirm_difference,
    difference_mask,
    first_difference,
    near,
    nearby_cases,
    same_outcome,
)

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
        (Outcome(value="a", harm="h"), Outcome(value="a"), Difference.SIDE_EFFECT),
    ],
)
def test_the_first_difference_is_told(actual, expected, difference):
    """Catches a harm told in the place of a wrong number, a list that is blamed for the gradient that lists lack."""
    assert first_difference(actual, expected, 1e-4) == difference


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
    """Catches a slip named for a function that does something else."""
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
    assert up["n"] is case["n"] and up["text"] == "x" and not case["a"].any()
