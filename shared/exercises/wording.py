"""Put a verdict into words, at most ten lines: the slips, then the smallest case, then the difference in it.

For a `per_token_kl` that gives k2 in the place of k3:

    This is k2 = x² / 2: never negative, but biased.            the slip's symptom
    For logps 0, ref_logps -1 it gives 0.5, expected 0.3679.    case, difference

What to write, "Asked for is k3 = exp(x) - x - 1.", is the slip's hint.
"""

from collections.abc import Callable, Sequence
from os.path import commonprefix

import numpy as np
import torch
from torch import Tensor

from shared.exercises.arguments import AXES, NUMBERED
from shared.exercises.calling import Outcome
from shared.exercises.comparing import Comparison, Difference, difference_mask
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import clipped
from shared.exercises.steps import Slip

MOST_SHOWN = 3  # places of a result that are described
WIDTH = 160  # characters of one argument
BEFORE_A_DIFFERENCE = 60  # characters of a long text that are shown before it differs
DIGITS = 4  # of a number
DIGITS_TO_TELL_APART = (4, 6, 9)  # of two numbers: the first of these with which they look different, else the last
MISSING_GRADIENT = "Look for `.detach()`, `.item()` or `torch.no_grad()`."
NAN_GRADIENT = "Look for an infinity that is multiplied by 0, and for a logarithm or a root of 0 beside a `where`."
OTHER_GRADIENT = "Look for a `.detach()` too many or too few."


def describe(
    exercise: Exercise, comparison: Comparison, slips: Sequence[tuple[Slip, ...]] = (), remark: str = ""
) -> str:
    """Describe how a wrong function fails in a case.

    Args:
        comparison: the function beside the reference in the case; its difference is not None.
        slips: what explains the function, one mistake or two at once; two of these where either may be, empty where
            nothing does.
        remark: a sentence on all of its outcomes, where that says more than one case; "" for none.

    Returns:
        The sentences that stand behind the name of the exercise.
    """
    difference = comparison.difference
    actual = comparison.actual
    lines = [remark] if remark else _describe_slips(slips)
    if difference == Difference.RAISED:
        sentence = f"{actual.raised}{actual.where}"
        sentence += "" if sentence.endswith("...") else "."
        lines.append(_capital(sentence) if lines else sentence)
        lines += _with_case(exercise, comparison.case, "")
    elif difference in (Difference.NO_RESULT, Difference.TYPE):
        lines.append(actual.complaint)
    elif difference == Difference.SIDE_EFFECT:
        lines.append(actual.harm)
    else:
        if difference == Difference.VALUE and not lines and _has_nan(actual):
            lines.append("it gives nan.")
        lines += _with_case(exercise, comparison.case, _describe_numbers(exercise, comparison))
    if actual.complaint and difference not in (Difference.NO_RESULT, Difference.TYPE):
        lines.append(f"Besides, {actual.complaint}")
    if actual.harm and difference != Difference.SIDE_EFFECT:
        lines.append(f"Besides, {actual.harm}")
    return "\n".join(lines)


def _has_nan(outcome: Outcome) -> bool:
    return isinstance(outcome.value, Tensor) and bool(outcome.value.isnan().any())


def _describe_slips(slips: Sequence[tuple[Slip, ...]]) -> list[str]:
    """The lines on what explains a function: "either this: ..." and "or this: ..." where two things do."""
    lines = []
    for word, explanation in zip(("either", "or"), slips):
        first, *others = _at_once(explanation)
        lines += [f"{word} this: {first}" if len(slips) > 1 else first, *others]
    return lines


def _at_once(slips: tuple[Slip, ...]) -> list[str]:
    """One line for each slip; two of them are numbered."""
    if len(slips) == 2:
        return [f"two things at once. (1) {slips[0].symptom}", f"(2) {slips[1].symptom}"]
    return [slip.symptom for slip in slips]


def hint_for(slips: Sequence[tuple[Slip, ...]]) -> str:
    """Say why, and what to write, for what explains a function: told when it is asked for. "" where nothing does."""
    return "\n".join(dict.fromkeys(slip.hint for explanation in slips for slip in explanation if slip.hint))


def _with_case(exercise: Exercise, case: Case, rest: str) -> list[str]:
    """One line, or none: "For logps -1, beta 0 it gives 1."; without a rest, "This happens for logps -1, beta 0."."""
    shown = arguments_in_words(exercise, case)
    if not shown:
        return [_capital(rest)] if rest else []
    return [f"For {shown} {rest}" if rest else f"This happens for {shown}."]


def arguments_in_words(exercise: Exercise, case: Case) -> str:
    """The arguments of a case that are not plain: "completion ' 3 or 4', answer '3'"."""
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


def _number(value: float, digits: int = DIGITS) -> str:
    """ "0.3679"; true and false as Python writes them."""
    if isinstance(value, bool):
        return str(value)
    text = f"{value:.{digits}g}"
    return "0" if text == "-0" else text


def _describe_numbers(exercise: Exercise, comparison: Comparison) -> str:
    """The shape, value or gradient that the function gives and the one that is expected."""
    actual = comparison.actual
    expected = comparison.expected
    if comparison.difference == Difference.SHAPE:
        return _describe_shape(exercise, actual.value, expected.value)
    if isinstance(expected.value, str):
        return "it gives {}; expected {}.".format(*from_where_they_differ(actual.value, expected.value))
    if comparison.difference == Difference.VALUE:
        return f"{_places_of_result(exercise, actual.value, expected.value)}."
    return _describe_gradient(exercise, actual.gradient, expected.gradient)


def from_where_they_differ(actual: str, expected: str) -> tuple[str, str]:
    """Both texts as Python writes them; of long ones the part around the first place at which they differ."""
    if max(len(actual), len(expected)) <= WIDTH:
        return repr(actual), repr(expected)
    same = start = len(commonprefix([actual, expected]))
    while start and len(repr(actual[start - 1 : same])) <= BEFORE_A_DIFFERENCE:
        start -= 1
    if start:
        start = actual.find(" ", start, same) + 1 or start  # at the beginning of a word, where there is one
    before = "..." if start else ""
    return tuple(before + clipped(repr(text[start:]), WIDTH) for text in (actual, expected))


def _describe_shape(exercise: Exercise, actual: Tensor, expected: Tensor) -> str:
    """ "it gives the shape (1,); expected (1, 1) (B, C)."."""
    dimensions = exercise.result.axes.split()[-expected.dim() :] if expected.dim() else []
    axes = f" ({', '.join(dimensions)})" if dimensions else ""
    return f"it gives the shape {tuple(actual.shape)}; expected {tuple(expected.shape)}{axes}."


def _describe_gradient(exercise: Exercise, actual: Tensor | None, expected: Tensor) -> str:
    """The gradient of a function whose value is right."""
    names = exercise.gradient.split()
    name = "` and `".join(names)
    if actual is None:
        return f"the value is right, and it has no gradient by `{name}`. {MISSING_GRADIENT}"
    if not bool(actual.any()):
        return f"the value is right, and its gradient by `{name}` is 0. {OTHER_GRADIENT}"
    if bool(actual.isnan().any()):
        return f"the value is right, and its gradient by `{name}` is nan. {NAN_GRADIENT}"
    axes = getattr(exercise.arguments[name], "axes", "") if len(names) == 1 else ""
    if not axes:
        return f"the value is right and its gradient is not. {OTHER_GRADIENT}"
    places = _places(actual, expected, axes, exercise.tolerance)
    return f"the value is right and its gradient by `{name}` is not: {places}. {OTHER_GRADIENT}"


def _places_of_result(exercise: Exercise, actual: Tensor, expected: Tensor) -> str:
    """The places at which a result differs; truths are told as True and False."""
    result = exercise.result
    names = getattr(result, "names", ())
    are_truths = getattr(result, "holds", "") == "booleans" and bool(((actual == 0) | (actual == 1)).all())
    return _places(actual, expected, result.axes, exercise.tolerance, names, bool if are_truths else float)


def _places(
    actual: Tensor,
    expected: Tensor,
    axes: str,
    tolerance: float,
    names: Sequence[str] = (),
    read: Callable[[float], float | bool] = float,
) -> str:
    """ "at token 1 it gives 1, expected 0; 2 more differ": the first places that differ, and the number of the rest.

    names: of the first places of the first axis, as of the entries of a dict.    read: makes of a number what is told.
    """
    if actual.numel() == 1:
        return _pair(read(actual.flatten()[0]), read(expected.flatten()[0]))
    places = difference_mask(actual, expected, tolerance).nonzero().tolist()
    sentences = []
    for place in places[:MOST_SHOWN]:
        index = tuple(place)
        where = _place(place, actual.shape, axes, names)
        sentences.append(f"{where} {_pair(read(actual[index]), read(expected[index]))}")
    if len(places) > MOST_SHOWN:
        sentences.append(f"{len(places) - MOST_SHOWN} more differ")
    return "; ".join(sentences)


def _pair(actual: float, expected: float) -> str:
    """Two numbers with enough digits to tell them apart."""
    for digits in DIGITS_TO_TELL_APART:
        if _number(actual, digits) != _number(expected, digits):
            break
    return f"it gives {_number(actual, digits)}, expected {_number(expected, digits)}"


def _place(place: list[int], shape, axes: str, names: Sequence[str]) -> str:
    """ "at completion 2, token 1", "at state 0"; axes of one place are not named, of too many the last ones are.

    With names: "at 'k3', completion 2"; where the first axis has more places than names, the rest are counted from 1.
    """
    words = []
    if names and place[0] < len(names):
        words.append(repr(names[place[0]]))
        place, shape, axes = place[1:], shape[1:], axes.partition(" ")[2]
    elif names:
        place, shape = [place[0] - len(names), *place[1:]], [shape[0] - len(names), *shape[1:]]
    for index, length, dimension in zip(place, shape, ([""] * len(place) + axes.split())[-len(place) :]):
        if length > 1 or not words and len(place) == 1:
            axis = dimension[-1:]
            words.append(f"{AXES.get(axis, 'place')} {index if axis in NUMBERED else index + 1}")
    return f"at {', '.join(words)}"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
