"""The verdict in words: the slips, then the smallest case, then what differs in it, in at most ten lines."""

import numpy as np
import torch
from torch import Tensor

from shared.exercises.arguments import AXES, NUMBERED
from shared.exercises.calling import Outcome
from shared.exercises.comparing import differing
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import clipped
from shared.exercises.steps import Slip

MOST_SHOWN = 3  # places of a result that are told
WIDTH = 160  # characters of one argument
MISSING_GRADIENT = "Look for `.detach()`, `.item()` or `torch.no_grad()`."
OTHER_GRADIENT = "Look for a `.detach()` too many or too few."


def told(exercise: Exercise, way: str, slips: tuple[Slip, ...], case: Case, found: Outcome, expected: Outcome) -> str:
    """What is wrong: sentences, the first of which stands behind the name of the exercise."""
    lines = _slips(slips)
    if way == "raised":
        sentence = f"{found.raised}{found.where}."
        lines.append(_capital(sentence) if slips else sentence)
        lines += _with_case(exercise, case, "")
    elif way == "result":
        lines.append(found.complaint)
    elif way == "harm":
        lines.append(found.harm)
    elif way == "type":
        lines.append(found.complaint)
    else:
        if way == "value" and not slips and isinstance(found.value, Tensor) and bool(found.value.isnan().any()):
            lines.append("it gives nan.")
        lines += _with_case(exercise, case, _differs(exercise, way, case, found, expected))
    if found.complaint and way not in ("result", "type"):
        lines.append(f"Besides, {found.complaint}")
    return "\n".join(lines)


def _slips(slips: tuple[Slip, ...]) -> list[str]:
    if len(slips) == 2:
        return [f"two things at once. (1) {slips[0].explanation}", f"(2) {slips[1].explanation}"]
    return [slip.explanation for slip in slips]


def _with_case(exercise: Exercise, case: Case, rest: str) -> list[str]:
    """`For logps -1, beta 0:` and what it gives there."""
    shown = arguments_in_words(exercise, case)
    if not shown:
        return [_capital(rest)] if rest else []
    return [f"For {shown} {rest}" if rest else f"This happens for {shown}."]


def arguments_in_words(exercise: Exercise, case: Case) -> str:
    """The arguments of a case that are not plain: "response ' 3 or 4', answer '3'"."""
    parts = []
    for name, kind in exercise.arguments.items():
        value = case[name]
        if not kind.is_plain(value):
            parts.append(_argument(name, value, kind.in_words(value)))
    return ", ".join(parts)


def _argument(name: str, value, in_words: str) -> str:
    """One argument; of a list of one thing that thing, under the name of one."""
    if in_words:
        return f"{name} {in_words}"
    if isinstance(value, list) and len(value) == 1 and name.endswith("s"):
        return f"{_singular(name)} {shown(value[0])}"
    return f"{name} {shown(value)}"


def _singular(name: str) -> str:
    return f"{name.removesuffix('ies')}y" if name.endswith("ies") else name.removesuffix("s")


def shown(value) -> str:
    """A value as a person writes it: numbers with four digits, one number of a tensor without its brackets."""
    if isinstance(value, (Tensor, np.ndarray)):
        numbers = torch.as_tensor(value)
        if numbers.numel() == 1:
            return _number(numbers.item())
        return clipped(_nested(numbers.tolist()), WIDTH)
    if isinstance(value, float):
        return _number(value)
    return clipped(repr(value), WIDTH)


def _nested(values) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    return _number(values)


def _number(value: float, digits: int = 4) -> str:
    if isinstance(value, bool):
        return str(value)
    text = f"{value:.{digits}g}"
    return "0" if text == "-0" else text


def _differs(exercise: Exercise, way: str, case: Case, found: Outcome, expected: Outcome) -> str:
    """What it gives and what is expected, in the places that differ."""
    if way == "shape":
        dimensions = exercise.result.axes.split()[-expected.value.dim() :] if expected.value.dim() else []
        axes = f" ({', '.join(dimensions)})" if dimensions else ""
        return f"it gives the shape {tuple(found.value.shape)}; expected {tuple(expected.value.shape)}{axes}."
    if isinstance(expected.value, str):
        return f"it gives {clipped(repr(found.value), WIDTH)}; expected {expected.value!r}."
    if way == "value":
        return f"{_places(found.value, expected.value, exercise.result.axes, exercise.tolerance)}."
    by = exercise.gradient
    if found.gradient is None or not bool(found.gradient.any()):
        return f"the value is right, and it has no gradient by `{by}`. {MISSING_GRADIENT}"
    axes = getattr(exercise.arguments[by], "axes", "")
    if not axes:
        return f"the value is right and its gradient is not. {OTHER_GRADIENT}"
    places = _places(found.gradient, expected.gradient, axes, exercise.tolerance)
    return f"the value is right and its gradient by `{by}` is not: {places}. {OTHER_GRADIENT}"


def _places(found: Tensor, expected: Tensor, axes: str, tolerance: float) -> str:
    """ "it gives 1, expected 0" in each place that differs, named; of many the first."""
    places = differing(found, expected, tolerance).nonzero().tolist()
    if found.numel() == 1:
        return _pair(found.flatten()[0].item(), expected.flatten()[0].item())
    named = [
        f"{_place(place, found.shape, axes)} {_pair(found[tuple(place)].item(), expected[tuple(place)].item())}"
        for place in places[:MOST_SHOWN]
    ]
    more = len(places) - MOST_SHOWN
    return "; ".join(named) + (f"; {more} more differ" if more > 0 else "")


def _pair(found: float, expected: float) -> str:
    """Two numbers with enough digits to tell them apart."""
    for digits in (4, 6, 9):
        if _number(found, digits) != _number(expected, digits):
            break
    return f"it gives {_number(found, digits)}, expected {_number(expected, digits)}"


def _place(place: list[int], shape, axes: str) -> str:
    """ "at completion 2, token 1", "at state 0"; axes of one place are not named, of too many the last ones are."""
    words = []
    for index, length, dimension in zip(place, shape, axes.split()[-len(place) :] or [""] * len(place)):
        if length > 1 or len(place) == 1:
            axis = dimension[-1:]
            words.append(f"{AXES.get(axis, 'place')} {index if axis in NUMBERED else index + 1}")
    return f"at {', '.join(words)}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
