"""Functions that give the same whatever their arguments are, or what they remember, in the cases that they never saw."""

from dataclasses import dataclass

from checker.grading.apart.partial import plain
from shared.exercises.calling import Outcome
from shared.exercises.wording import shown

FEWEST = 3  # different expected results, below which a function that gives always the same may mean it


@dataclass(frozen=True)
class Tried:
    """What a function gave in a case, and what was expected there."""

    found: Outcome
    expected: Outcome
    right: bool


def regardless(tried: list[Tried]) -> str:
    """A sentence on a function that does not look at its arguments where it is wrong, "" of one that does."""
    failed = [one for one in tried if not one.right]
    wrong = [one for one in failed if plain(one.found.value) != plain(one.expected.value)]  # not by a gradient alone
    expected = {plain(one.expected.value) for one in wrong}
    given = {plain(one.found.value) for one in wrong}
    if len(expected) < FEWEST or any(one.found.value is None for one in failed):
        return ""
    where = "In the others it" if len(failed) < len(tried) else "It"
    if len(given) == 1:
        (only,) = given
        what = shown(only) if isinstance(only, (str, float)) else "the same"
        return f"{where} gives {what}, whatever its arguments are."
    telling = [one for one in wrong if _is_rich(plain(one.found.value))]
    if len(telling) >= FEWEST and all(_given_elsewhere(one, tried) for one in telling):
        return f"{where} gives again what it gave for other arguments."
    return ""


def _given_elsewhere(one: Tried, tried: list[Tried]) -> bool:
    """Whether the function gave the same in a case that asks for something else."""
    given = plain(one.found.value)
    others = (other for other in tried if other is not one and plain(other.found.value) == given)
    return any(plain(other.expected.value) != plain(one.expected.value) for other in others)


def _is_rich(result: object) -> bool:
    """Whether a result does not recur by chance, as a text and a whole number do."""
    return isinstance(result, tuple) or isinstance(result, float) and not result.is_integer()
