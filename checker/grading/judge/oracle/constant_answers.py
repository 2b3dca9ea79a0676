"""A search for functions that do not look at their arguments: they always answer the same, or repeat an earlier answer."""

from dataclasses import dataclass

from checker.grading.judge.oracle.partial_credit import plain
from shared.exercises.calling import Outcome
from shared.exercises.wording import shown

FEWEST = 3  # different expected results, below which a function that gives always the same may mean it


@dataclass(frozen=True)
class Tried:
    """The answer of a function in a case, and the expected one."""

    found: Outcome
    expected: Outcome
    right: bool


def constant_answer_remark(tried: list[Tried]) -> str:
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
    rich = [one for one in wrong if _is_rich(plain(one.found.value))]
    if len(rich) >= FEWEST and all(_given_elsewhere(one, tried) for one in rich):
        return f"{where} gives again what it gave for other arguments."
    return ""


def _given_elsewhere(one: Tried, tried: list[Tried]) -> bool:
    """True if the function gave the same in a case that asks for something else."""
    given = plain(one.found.value)
    others = (other for other in tried if other is not one and plain(other.found.value) == given)
    return any(plain(other.expected.value) != plain(one.expected.value) for other in others)


def _is_rich(result: object) -> bool:
    """True if a result does not recur by chance, as a text and a whole number do."""
    return isinstance(result, tuple) or isinstance(result, float) and not result.is_integer()
