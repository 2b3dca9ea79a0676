"""Compare a student's function with the reference, the right function of an exercise, in one case.

A *case* holds the arguments of one call. An *outcome* is what the call gave: a value and its gradient, or an error.

    per_token_kl for logps = 0, ref_logps = -1    value     gradient    Difference
    the reference                                 0.3679    right       None
    k2, another estimator                         0.5       wrong       VALUE
    the reference with `.detach()`                0.3679    missing     GRADIENT
    one that raises a KeyError                    none      none        RAISED
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor

from shared.exercises.calling import Outcome, call
from shared.exercises.exercise import Case, Exercise
from shared.exercises.steps import Slip

DECIMAL = re.compile(r"(?<!\d)[-+]?\d++\.\d+")  # in a text
JITTER = 0.01  # how far numbers are moved: enough to leave a tie, too little to be another case


class Difference(StrEnum):
    """A way in which a function can differ from the reference.

    The order is the order of importance: of several differences the first is described, since the later ones may
    follow from it.
    """

    RAISED = "raised"  # it raised an error
    NO_RESULT = "result"  # what it returned cannot be read as a result
    SHAPE = "shape"  # a tensor of another shape
    VALUE = "value"  # another number or text
    GRADIENT = "gradient"  # the right value with another gradient, or without one
    SIDE_EFFECT = "harm"  # the right numbers, but it changes an argument or a setting of torch
    TYPE = "type"  # the right numbers in another type, such as a list in the place of a tensor

    @property
    def has_right_numbers(self) -> bool:
        """True where value and gradient are right, so that there is no mistake in the computation to look for."""
        return self in (Difference.SIDE_EFFECT, Difference.TYPE)


@dataclass(frozen=True)
class Comparison:
    """A student's function beside the reference, in one case.

    case: the arguments of both calls.
    difference: how the function differs; None when it is right here.
    actual: the outcome of the student's function.
    expected: the outcome of the reference.
    """

    case: Case
    difference: Difference | None
    actual: Outcome
    expected: Outcome


def compare(exercise: Exercise, function, case: Case) -> Comparison:
    """Compare a function with the reference in a case.

    Where the gradient alone differs, both are called in two cases nearby as well: see `confirm_difference`.
    """
    actual = call(exercise, function, case)
    expected = reference_outcome(exercise, case)
    difference = first_difference(actual, expected, exercise.tolerance)
    differences_nearby = (_difference_in(exercise, function, nearby) for nearby in nearby_cases(case))
    return Comparison(case, confirm_difference(difference, differences_nearby), actual, expected)


def _difference_in(exercise: Exercise, function, case: Case) -> Difference | None:
    return first_difference(call(exercise, function, case), reference_outcome(exercise, case), exercise.tolerance)


def first_difference(actual: Outcome, expected: Outcome, tolerance: float) -> Difference | None:
    """The most important difference of two outcomes; None when they agree."""
    if actual.raised is not None:
        return Difference.RAISED
    if actual.value is None:
        return Difference.NO_RESULT
    if isinstance(expected.value, str):
        if not same_text(actual.value, expected.value, tolerance):
            return Difference.VALUE
    elif actual.value.shape != expected.value.shape:
        return Difference.SHAPE
    elif not near(actual.value, expected.value, tolerance):
        return Difference.VALUE
    elif not near(_zeros_for_none(actual.gradient, expected.gradient), expected.gradient, tolerance):
        if actual.harm and actual.gradient is None:
            return Difference.SIDE_EFFECT  # a backward pass of its own leaves no graph for another
        is_a_list = actual.complaint and actual.gradient is None  # a list has no gradient: its type is the mistake
        return Difference.TYPE if is_a_list else Difference.GRADIENT
    if actual.harm:
        return Difference.SIDE_EFFECT
    return Difference.TYPE if actual.complaint else None


def confirm_difference(
    difference: Difference | None, differences_nearby: Iterable[Difference | None]
) -> Difference | None:
    """The difference, or None for a gradient that differs at a tie alone.

    In `max(a, b)` with a = b the gradient may rightly go to a or to b. So a gradient counts as different only if the
    function differs in both cases nearby as well, where a and b have been moved apart.

    Args:
        difference: the difference in the case itself.
        differences_nearby: the differences in the cases nearby; read only when a gradient is in question.
    """
    if difference == Difference.GRADIENT and None in differences_nearby:
        return None
    return difference


def reference_outcome(
    exercise: Exercise, case: Case, slips: tuple[Slip, ...] = (), with_gradient: bool = True
) -> Outcome:
    """The outcome of the reference in a case; with slips, that of the reference in which these mistakes are made."""
    return call(exercise, exercise.reference(slips), case, with_gradient)


def same_outcome(one: Outcome, other: Outcome, tolerance: float) -> bool:
    """True when two functions did the same.

    The type of the result does not matter. A missing gradient is the same as a gradient of zeros. An error is the
    same as any other error.
    """
    if one.raised is not None or other.raised is not None:
        return one.raised is not None and other.raised is not None
    if one.value is None or other.value is None or isinstance(one.value, str) or isinstance(other.value, str):
        return same_text(one.value, other.value, tolerance)
    if not near(one.value, other.value, tolerance):
        return False
    shape = one.gradient if one.gradient is not None else other.gradient
    if shape is None:
        return True
    return near(_zeros_for_none(one.gradient, shape), _zeros_for_none(other.gradient, shape), tolerance)


def same_text(one: object, other: object, tolerance: float) -> bool:
    """True for texts that are equal but for their decimals, and these are near: 0.12350 and 0.12349 may be one number."""
    if not isinstance(one, str) or not isinstance(other, str) or DECIMAL.sub("#", one) != DECIMAL.sub("#", other):
        return False
    mine, theirs = (torch.tensor([float(text) for text in DECIMAL.findall(each)]) for each in (one, other))
    return near(mine, theirs, tolerance)


def near(actual: Tensor | None, expected: Tensor | None, tolerance: float) -> bool:
    """True for tensors that are equal up to the tolerance times the largest expected number, or 1; nan equals nan."""
    if actual is None or expected is None:
        return actual is expected
    if actual.shape != expected.shape:
        return False
    return not bool(difference_mask(actual, expected, tolerance).any())


def difference_mask(actual: Tensor, expected: Tensor, tolerance: float) -> Tensor:
    """True at the places where two tensors of one shape differ."""
    finite = expected[expected.isfinite()]
    scale = max(1.0, finite.abs().max().item()) if finite.numel() else 1.0
    return ~torch.isclose(actual, expected, rtol=0, atol=tolerance * scale, equal_nan=True)


def _zeros_for_none(gradient: Tensor | None, like: Tensor | None) -> Tensor | None:
    """The gradient; zeros of the shape of `like` where there is none."""
    return torch.zeros_like(like) if gradient is None and like is not None else gradient


def nearby_cases(case: Case) -> Iterator[Case]:
    """The case with its numbers moved up a little, then with them moved down."""
    yield _move_numbers(case, 1)
    yield _move_numbers(case, -1)


def _move_numbers(case: Case, sign: int) -> Case:
    """The case with its floats moved by half of JITTER to one and a half of it, each by another amount."""
    moved_case = {}
    for name, value in case.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            places = torch.arange(1, value.numel() + 1, dtype=value.dtype).view(value.shape)
            # Multiples of the golden ratio's fraction never repeat: equal numbers do not stay equal.
            value = value + sign * JITTER * (0.5 + torch.frac(places * 0.618034 + len(moved_case) * 0.37))
        moved_case[name] = value
    return moved_case
