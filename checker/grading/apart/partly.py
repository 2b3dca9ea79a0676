"""What is said of a function that is right in a part of the hidden cases only: in how many, and what it does elsewhere."""

from dataclasses import dataclass

from shared.exercises.calling import Outcome
from shared.exercises.wording import shown

FEWEST = 3  # different expected results, below which a function that gives always the same may mean it
DIGITS = 6


@dataclass(frozen=True)
class Tried:
    """What a function gave in a case, and what was expected there."""

    found: Outcome
    expected: Outcome
    right: bool


def told_of_part(tried: list[Tried], total: int) -> tuple[str, bool]:
    """A sentence for the end of a verdict, and whether the function does not look at its arguments where it is wrong."""
    right = sum(one.right for one in tried)
    failed = [one for one in tried if not one.right]
    wrong = [one for one in failed if _plain(one.found.value) != _plain(one.expected.value)]  # not by a gradient alone
    said = f"It is right in {right} of {total} hidden cases."
    expected = {_plain(one.expected.value) for one in wrong}
    given = {_plain(one.found.value) for one in wrong}
    if len(expected) < FEWEST or any(one.found.value is None for one in failed):
        return said, False
    where = "In the others it" if right else "It"
    if len(given) == 1:
        (only,) = given
        what = shown(only) if isinstance(only, (str, float)) else "the same"
        return f"{said} {where} gives {what}, whatever its arguments are.", True
    telling = [one for one in wrong if _is_rich(_plain(one.found.value))]
    if len(telling) >= FEWEST and all(_given_elsewhere(one, tried) for one in telling):
        return f"{said} {where} gives again what it gave for other arguments.", True
    return said, False


def _given_elsewhere(one: Tried, tried: list[Tried]) -> bool:
    """Whether the function gave the same in a case that asks for something else."""
    plain = _plain(one.found.value)
    others = (other for other in tried if other is not one and _plain(other.found.value) == plain)
    return any(_plain(other.expected.value) != _plain(one.expected.value) for other in others)


def _is_rich(plain) -> bool:
    """Whether a result does not recur by chance, as a text and a whole number do."""
    return isinstance(plain, tuple) or isinstance(plain, float) and not plain.is_integer()


def _plain(value):
    """A result as it is compared here: a text, the one number that a tensor is full of, or its shape with its numbers."""
    if value is None or isinstance(value, str):
        return value
    numbers = [round(number, DIGITS) for number in value.flatten().tolist()]
    if len(set(numbers)) == 1:
        return numbers[0]
    return (tuple(value.shape), tuple(numbers))
