"""Whether two outcomes are the same, and if not, in what: what is said first about a function goes first."""

from collections.abc import Iterator

import torch
from torch import Tensor

from shared.exercises.calling import Outcome, call
from shared.exercises.exercise import Case, Exercise
from shared.exercises.steps import Slip

# In this order: of a function that fails in several ways the first is told, for the others may follow from it.
WAYS = ("raised", "result", "shape", "value", "gradient", "harm", "type")
JITTER = 0.01


def difference(found: Outcome, expected: Outcome, tolerance: float) -> str:
    """In what `found` differs from what is expected, one of WAYS, or ""."""
    if found.raised is not None:
        return "raised"
    if found.value is None:
        return "result"
    if isinstance(expected.value, str):
        if found.value != expected.value:
            return "value"
    elif found.value.shape != expected.value.shape:
        return "shape"
    elif not near(found.value, expected.value, tolerance):
        return "value"
    elif not near(_filled(found.gradient, expected.gradient), expected.gradient, tolerance):
        # a list has no gradient: to say that it is one says it all
        return "type" if found.complaint and found.gradient is None else "gradient"
    if found.harm:
        return "harm"
    return "type" if found.complaint else ""


def judged(exercise: Exercise, function, case: Case) -> tuple[str, Outcome, Outcome]:
    """In what a function differs from the reference in a case, what it gave and what was expected.

    A gradient at a tie is anyone's: where it alone differs, the case is tried again with its numbers moved a little,
    twice, and differs only if both of them do.
    """
    found = call(exercise, function, case)
    expected = expected_in(exercise, case)
    way = difference(found, expected, exercise.tolerance)
    if way != "gradient":
        return way, found, expected
    for moved in near_by(case):
        if not difference(call(exercise, function, moved), expected_in(exercise, moved), exercise.tolerance):
            return "", found, expected
    return way, found, expected


def expected_in(exercise: Exercise, case: Case, slips: tuple[Slip, ...] = (), with_gradient: bool = True) -> Outcome:
    """What the reference comes to in a case, with some slips made."""
    return call(exercise, exercise.reference(slips), case, with_gradient)


def same(one: Outcome, other: Outcome, tolerance: float) -> bool:
    """Whether two functions did the same, whatever the type they gave it in; a missing gradient is one of zeros."""
    if one.raised is not None or other.raised is not None:
        return one.raised is not None and other.raised is not None
    if one.value is None or other.value is None or isinstance(one.value, str) or isinstance(other.value, str):
        return isinstance(one.value, str) and one.value == other.value
    if not near(one.value, other.value, tolerance):
        return False
    shape = one.gradient if one.gradient is not None else other.gradient
    if shape is None:
        return True
    return near(_filled(one.gradient, shape), _filled(other.gradient, shape), tolerance)


def near(found: Tensor | None, expected: Tensor | None, tolerance: float) -> bool:
    """Equal up to the tolerance times the largest expected number, or 1; nan equals nan."""
    if found is None or expected is None:
        return found is expected
    if found.shape != expected.shape:
        return False
    return not bool(differing(found, expected, tolerance).any())


def differing(found: Tensor, expected: Tensor, tolerance: float) -> Tensor:
    """Where two tensors of one shape differ."""
    finite = expected[expected.isfinite()]
    scale = max(1.0, finite.abs().max().item()) if finite.numel() else 1.0
    return ~torch.isclose(found, expected, rtol=0, atol=tolerance * scale, equal_nan=True)


def _filled(gradient: Tensor | None, like: Tensor | None) -> Tensor | None:
    return torch.zeros_like(like) if gradient is None and like is not None else gradient


def near_by(case: Case) -> Iterator[Case]:
    """Two cases near by, one to either side."""
    yield _jittered(case, 1)
    yield _jittered(case, -1)


def _jittered(case: Case, sign: int) -> Case:
    """The case with its floats moved by about JITTER, each by another amount."""
    moved = {}
    for name, value in case.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            places = torch.arange(1, value.numel() + 1, dtype=value.dtype).view(value.shape)
            value = value + sign * JITTER * (0.5 + torch.frac(places * 0.618034 + len(moved) * 0.37))
        moved[name] = value
    return moved
