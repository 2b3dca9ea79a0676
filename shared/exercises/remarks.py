"""A sentence on all outcomes of a wrong function that no known mistake explains: what differs, and where.

Three kinds of facts, of which the first that is found is told:

    form     "whatever it gives is 2 times what is expected", "it is wrong at the last token alone"
    way      "it gives what would be right with no number above 5 on the way to the result"
    place    "it is wrong only where `completion` has capitals: in small letters it is right"

The first two hold for every outcome. The third is tried out: what it names is taken out of the cases that fail.
"""

from collections.abc import Callable, Iterator
from itertools import product

import torch
from torch import Tensor

from shared.exercises.arguments import AXES, Kind, Mask, Numbers, Scalar, Size, lengths, without
from shared.exercises.comparing import (
    Comparison,
    Difference,
    compare,
    difference_mask,
    near,
    reference_outcome,
    same_outcome,
)
from shared.exercises.exercise import Case, Exercise
from shared.exercises.left_out import LEFT_OUT, in_numbers, kept, same
from shared.exercises.steps import Part, Slip

FEWEST = 3  # cases, or different numbers, of which a sentence is said
MOST_TRIED = 10  # failing cases in which a change is tried out
OFTEN = {str: 0.05, list: 0.05}  # the least share of failing cases among those that have what is named, by what has it
USUALLY = 0.3  # of anything else: numbers have most of what can be said of them
MOST_PLACES = 3  # an axis of so many places has a first, a last and others
LARGE = (100, 50, 20, 10, 5, 3, 2, 1)  # of bounds that say the same the first is told
BOUNDS = (0.001, 0.01, 0.1, 0.5, 0.9, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)
OTHER_FORMS = {
    "what is expected with the other sign": torch.neg,
    "what is expected without its sign": torch.abs,
    "what is expected, rounded to a whole number": torch.round,
    "what is expected, cut to a whole number": torch.trunc,
    "1 minus what is expected": lambda numbers: 1 - numbers,
    "1 divided by what is expected": torch.reciprocal,
    "the square of what is expected": torch.square,
    "the root of what is expected": torch.sqrt,
    "the exponential of what is expected": torch.exp,
    "the logarithm of what is expected": torch.log,
}
HOLDING = {
    "nothing below 0": "has a number below 0",
    "whole numbers alone": "has a number that is not whole",
    "nothing above 1": "has a number above 1",
    "one digit": "has a whole number beyond 9",
    "no 0": "has a 0",
    "no capitals": "has capitals",
    "no blanks around": "has blanks or ends of lines around a text",
    "no blanks": "has blanks",
    "no doubled characters": "has a character twice in a row",
    "each once": "has equal items",
    "in order": "has items out of order",
    "the first eight": "has more than eight items",
    "the first four": "has more than four items",
}  # said of an argument: what it has in all cases that fail
ON_THE_WAY = {
    "no sign": "with no sign of the numbers",
    "whole numbers alone": "with whole numbers alone, the others rounded,",
    "nothing below 0": "with 0 for numbers below 0",
    "nothing above 1": "with 1 for numbers above 1",
    "no 0": "with 1 for every 0",
    "digits in any order": "with the digits of numbers in any order",
    "the digits of all, in any order": "with the digits of all numbers in one row",
    "no capitals": "with small letters alone",
    "no blanks around": "with no blanks around texts",
    "no blanks": "with no blanks",
    "no doubled characters": "with no character twice in a row",
    "each once": "with each item once",
    "in order": "with the items sorted",
    "the first eight": "with the first eight items alone",
    "the first four": "with the first four items alone",
}  # said of a step: how the reference gives the same


def remark_on(
    exercise: Exercise, function: Callable, comparisons: list[Comparison], time_left: Callable[[], bool]
) -> str:
    """The sentence on a function that gives wrong numbers or texts; "" where nothing is found, or no time is left.

    Args:
        comparisons: the function beside the reference in all cases that were tried.
        time_left: returns False when the search has to end.
    """
    wrong = [one for one in comparisons if one.difference == Difference.VALUE]
    if len(wrong) < FEWEST:
        return of_the_way(exercise, comparisons, time_left) if any(map(_has_a_fraction, wrong)) else ""
    return (
        of_form(exercise, comparisons)
        or of_places(exercise, wrong)
        or of_the_way(exercise, comparisons, time_left)
        or of_order(exercise, function, wrong, time_left)
        or of_where(exercise, function, comparisons, time_left)
    )


def _has_a_fraction(one: Comparison) -> bool:
    """True where some number that it gives is no whole one, so that no other mistake gives it by chance."""
    actual = one.actual.value
    return isinstance(actual, Tensor) and bool((actual != actual.round()).any())


# --- what differs


def of_form(exercise: Exercise, comparisons: list[Comparison]) -> str:
    """The sentence on numbers that follow from those expected: their sign, a factor, an amount, an order."""
    pairs = [(one.actual.value, one.expected.value) for one in comparisons]
    if not all(isinstance(actual, Tensor) and actual.shape == expected.shape for actual, expected in pairs):
        return ""
    actual, expected = (torch.cat([numbers.flatten() for numbers in side]) for side in zip(*pairs))
    counted = actual.isfinite() & expected.isfinite()
    if not counted.all() or expected.unique().numel() < FEWEST:
        return ""

    def in_each_case(change: Callable[[Tensor], Tensor]) -> bool:  # one large number hides no others of other cases
        return all(near(given, change(right), exercise.tolerance) for given, right in pairs)

    for words, change in OTHER_FORMS.items():
        if in_each_case(change):
            return f"whatever it gives is {words}."
    factor = float(actual @ expected / (expected @ expected))
    if in_each_case(lambda right: factor * right):
        return f"whatever it gives is {factor:.4g} times what is expected."
    amount = float((actual - expected).mean())
    if in_each_case(lambda right: right + amount):
        return f"whatever it gives is {abs(amount):.4g} {'more' if amount > 0 else 'less'} than expected."
    return (
        _by_a_size(exercise, comparisons) or _in_another_order(pairs, exercise.tolerance) or _bounded(actual, expected)
    )


def _by_a_size(exercise: Exercise, comparisons: list[Comparison]) -> str:
    """The sentence on numbers that are those expected times, or divided by, a number that each case has."""
    counts = [_counts(exercise, one.case) for one in comparisons]
    for name in counts[0]:
        for word, power in (("times", 1), ("divided by", -1)):
            factors = [float(count[name]) ** power if count.get(name) else 1.0 for count in counts]
            if len(set(factors)) > 1 and all(
                near(one.actual.value, factor * one.expected.value, exercise.tolerance)
                for one, factor in zip(comparisons, factors)
            ):
                return f"whatever it gives is what is expected {word} {name}."
    return ""


def _counts(exercise: Exercise, case: Case) -> dict[str, float]:
    """By its words each length of an axis, and each argument that is one number."""
    found = {
        f"the number of {AXES[axis]}s": size for axis, size in lengths(exercise.arguments, case).items() if axis in AXES
    }
    own = {name for name, kind in exercise.arguments.items() if isinstance(kind, Scalar | Size)}
    return found | {f"`{name}`": case[name] for name in own}


def _in_another_order(pairs: list[tuple[Tensor, Tensor]], tolerance: float) -> str:
    if not all(
        near(actual.flatten().sort().values, expected.flatten().sort().values, tolerance) for actual, expected in pairs
    ):
        return ""
    is_reversed = all(near(actual.flip(0), expected, tolerance) for actual, expected in pairs if actual.dim())
    return f"it gives the right numbers in {'the reverse' if is_reversed else 'another'} order."


def _bounded(actual: Tensor, expected: Tensor) -> str:
    """The sentence on one number that stands wherever more, or less, is expected."""
    wrong = (actual - expected).abs() > 1e-6 * (1 + expected.abs())
    bounds = actual[wrong].unique()
    if bounds.numel() != 1 or expected[wrong].unique().numel() < FEWEST:
        return ""
    (bound,) = (bounds + 0.0).tolist()  # 0 for -0
    if bound == actual.max() and bool((expected[wrong] > bound).all()):
        return f"it never gives more than {bound:.4g}, where more is expected."
    if bound == actual.min() and bool((expected[wrong] < bound).all()):
        return f"it never gives less than {bound:.4g}, where less is expected."
    return f"wherever it is wrong it gives {bound:.4g}."


def of_places(exercise: Exercise, wrong: list[Comparison]) -> str:
    """The sentence on results that are wrong at the first, the last or the later places of an axis alone."""
    names = exercise.result.axes.split() if hasattr(exercise.result, "axes") else []
    for dimension, axis in enumerate(names):
        found = []
        for one in wrong:
            actual, expected = one.actual.value, one.expected.value
            if not isinstance(actual, Tensor) or actual.dim() != len(names):
                return ""
            if actual.shape[dimension] >= MOST_PLACES:
                mask = difference_mask(actual, expected, exercise.tolerance)
                places = mask.nonzero()[:, dimension]
                found.append((int(places.min()), int(places.max()), actual.shape[dimension] - 1))
        if len(found) < FEWEST or axis[-1:] not in AXES:
            continue
        word = AXES[axis[-1:]]
        if all(last == 0 for _, last, _ in found):
            return f"it is wrong at the first {word} alone."
        if all(first == end for first, _, end in found):
            return f"it is wrong at the last {word} alone."
        if len(firsts := {first for first, _, _ in found}) == 1 and 0 not in firsts:
            return f"it is right up to {word} {max(firsts)}, and wrong from the next one on."
    return ""


# --- on the way


def of_the_way(exercise: Exercise, comparisons: list[Comparison], time_left: Callable[[], bool]) -> str:
    """The sentence on a function that does what the reference does if something is left out of an argument or a step."""
    wrong_first = sorted(comparisons, key=lambda one: (one.difference is None, exercise.size(one.case)))
    counts = {
        name
        for name, kind in exercise.arguments.items()
        if isinstance(kind, Scalar) and type(wrong_first[0].case[name]) is int
    }
    names = [name for name in (*exercise.steps.steps, *exercise.arguments) if name not in counts]
    for (words, change), name in product(_changes_on_the_way(), names):
        if not time_left():
            return ""
        slip = (Slip(name, "", Part(kept(change), (name,))),)
        if all(
            same_outcome(one.actual, reference_outcome(exercise, one.case, slip), exercise.tolerance)
            for one in wrong_first
        ):
            where = f"in `{name}`" if name in exercise.arguments else "on the way to the result"
            return f"it gives what would be right {words} {where}."
    return ""


def _changes_on_the_way() -> Iterator[tuple[str, Callable]]:
    """Each change with its words: those of LEFT_OUT, then a bound above and one below."""
    for what, words in ON_THE_WAY.items():
        yield words, LEFT_OUT[what][1]
    yield "with numbers cut to whole ones", in_numbers(torch.trunc)
    for bound in BOUNDS:
        yield f"with no number above {bound}", in_numbers(lambda numbers, most=bound: numbers.clamp(max=most))
        yield f"with no number beyond {bound} and -{bound}", in_numbers(lambda numbers, b=bound: numbers.clamp(-b, b))
        for least in (bound, -bound):
            yield f"with no number below {least}", in_numbers(lambda numbers, least=least: numbers.clamp(min=least))


# --- where


def of_order(exercise: Exercise, function: Callable, wrong: list[Comparison], time_left: Callable[[], bool]) -> str:
    """The sentence on a result that changes with the order of a list, or with the rows beside it, and should not."""
    tried = sorted((one.case for one in wrong), key=exercise.size)[:MOST_TRIED]
    for name, kind in exercise.arguments.items():
        alone = [axis for axis in kind.axes.split() if axis not in _axes(exercise, but=name)]
        if not time_left() or len(alone) != 1 or not isinstance(tried[0][name], list):
            continue
        if _changes_it_alone(exercise, function, tried, lambda case, name=name: case | {name: case[name][::-1]}):
            return f"what it gives depends on the order of `{name}`, and should not."
    return ""


def _axes(exercise: Exercise, but: str) -> set[str]:
    others = [kind for name, kind in exercise.arguments.items() if name != but]
    return {axis for kind in others for factors in kind.dimensions for axis in factors}


def _changes_it_alone(
    exercise: Exercise, function: Callable, cases: list[Case], change: Callable[[Case], Case]
) -> bool:
    """True if the change makes no difference to what is expected in any case, and one to what the function gives in some."""
    differs = False
    for case in cases:
        before, after = (compare(exercise, function, one) for one in (case, change(case)))
        if not same_outcome(before.expected, after.expected, exercise.tolerance):
            return False
        differs |= not same_outcome(before.actual, after.actual, exercise.tolerance)
    return differs


def of_where(
    exercise: Exercise, function: Callable, comparisons: list[Comparison], time_left: Callable[[], bool]
) -> str:
    """The sentence on what all failing cases have, if the function is right as soon as it is taken out of them.

    Other cases that have it are few, and some have not. That is told which the fewest of them have, and another one if
    together they are had by less than half of those.
    """
    failing = sorted((one.case for one in comparisons if one.difference), key=exercise.size)
    passing = [one.case for one in comparisons if not one.difference]
    found = []
    for about, words, change in _changes_of_cases(exercise):
        if not time_left():
            break
        if _makes_another(exercise, failing[0], change) and _mends(exercise, function, failing, change):
            having = {place for place, case in enumerate(passing) if _makes_another(exercise, case, change)}
            least = OFTEN.get(type(failing[0].get(about)), USUALLY)
            if len(having) <= len(passing) - FEWEST and len(failing) >= least * (len(failing) + len(having)):
                found.append((len(having), len(found), words, having))
    if not found:
        return ""
    _, _, first, having = min(found)
    both, _, second = min((len(having & others), place, words) for _, place, words, others in found)
    return f"it is wrong only where {first}{f' and {second}' if 2 * both < len(having) else ''}."


def _mends(exercise: Exercise, function: Callable, failing: list[Case], change: Callable[[Case], Case]) -> bool:
    """True if the change makes another valid case of each failing one, in which the function is right.

    A change that leaves one number to be expected in all of them says nothing.
    """
    if not all(_makes_another(exercise, case, change) for case in failing):
        return False
    expected = set()
    for case in failing[:MOST_TRIED]:
        comparison = compare(exercise, function, change(case))
        if comparison.difference or comparison.expected.value is None:
            return False
        value = comparison.expected.value
        expected |= {value} if isinstance(value, str) else set(value.flatten().tolist())
    return len(expected) > 1


def _makes_another(exercise: Exercise, case: Case, change: Callable[[Case], Case]) -> bool:
    try:
        changed = change(case)
        return not same(changed, case) and exercise.valid(changed)
    except (TypeError, ValueError, RuntimeError, IndexError, KeyError, AttributeError):
        return False


def _changes_of_cases(exercise: Exercise) -> Iterator[tuple[str, str, Callable[[Case], Case]]]:
    """Each change of a case: the argument or axis, the words on what it takes away, the change."""
    for name, kind in exercise.arguments.items():
        if isinstance(kind, Mask):
            yield name, f"`{name}` has a 0", _of_argument(name, torch.ones_like)
            continue
        if isinstance(kind, Scalar):
            usual = kind.usual
            as_usual = _of_argument(name, lambda value, usual=usual: type(value)(usual))
            yield name, f"`{name}` is not {usual:g}", as_usual
        if not isinstance(kind, Size) and type(kind) is not Kind:
            for what, words in HOLDING.items():
                about = "" if LEFT_OUT[what][0] == "numbers" or what == "one digit" else name  # as usual as any number
                yield about, f"`{name}` {words}", _of_argument(name, LEFT_OUT[what][1])
            for most in LARGE if isinstance(kind, Numbers | Scalar) else ():
                above = in_numbers(lambda numbers, most=most: numbers.clamp(max=most))
                yield name, f"`{name}` has a number above {most}", _of_argument(name, above)
                below = in_numbers(lambda numbers, most=most: numbers.clamp(min=-most))
                yield name, f"`{name}` has a number below -{most}", _of_argument(name, below)
    for axis in sorted(_axes(exercise, but="") & AXES.keys()):
        yield axis, f"there is more than one {AXES[axis]}", _first_of(exercise, axis, 1)
        for most in (2, 4, 8, 16, 64):
            yield axis, f"there are more than {most} {AXES[axis]}s", _first_of(exercise, axis, most)


def _of_argument(name: str, change: Callable) -> Callable[[Case], Case]:
    return lambda case: case | {name: change(case[name])}


def _first_of(exercise: Exercise, axis: str, most: int) -> Callable[[Case], Case]:
    def changed(case: Case) -> Case:
        places = range(most, lengths(exercise.arguments, case)[axis])
        return without(exercise.arguments, case, axis, set(places)) if places else case

    return changed
