"""The worth of a function that is right in some hidden cases and wrong in others, and the lines that say so.

In some exercises one answer, 0 for the most part, is right in many cases, and a function that always gives it knows
nothing. Nor does one that hands back an argument (`guesses.py`). As many cases as such a function gets right earn nobody
anything, and the points go by the others.
"""

from collections import Counter
from collections.abc import Iterable

DIGITS = 4  # of a number that is compared with other cases' numbers
NO_ANSWER = "no answer"
ALWAYS_THE_SAME = "always gives the same"
HANDS_BACK = "hands back an argument, or a part of one,"
NO_NAME = "by no mistake that has a name"
NOT_FILLED_IN = "it is not filled in yet."
IN_WORDS = {
    "raised": "an error",
    "result": "nothing that can be compared",
    "shape": "another shape",
    "value": "another value",
    "gradient": "another gradient",
    "harm": "changed arguments",
    "type": "another type",
    NO_ANSWER: NO_ANSWER,
}


def by_one_answer(values: Iterable) -> int:
    """The number of cases in which the same answer is right. A tensor of one number is that number, whatever its shape."""
    often = Counter(map(plain, values)).most_common(1)
    return often[0][1] if often else 0


def share(right: int, total: int, free: int) -> float:
    """The part of the points, from 0 to 1, for `right` of `total` cases, of which `free` count for nobody."""
    return max(0, right - free) / (total - free) if total > free else 0.0


def counted(ways: Iterable[str], total: int, free: int, who: str = ALWAYS_THE_SAME) -> str:
    """Sentences on the number of right cases and on the others; `ways` has a word of `IN_WORDS` for each of these.

    who: the function that is right in the free cases.
    """
    wrong = Counter(ways)
    right = total - wrong.total()
    gave = ", ".join(f"{IN_WORDS[way]} in {wrong[way]}" for way in IN_WORDS if wrong[way])
    lines = [f"Right in {right} of {total} hidden cases; {gave}."]
    if free and right:
        earned = f"{max(0, right - free)} of {total - free} earn points"
        lines.append(f"A function that {who} would be right in {free}, so as many earn nothing: {earned}.")
    return "\n".join(lines)


def plain(value) -> object:
    """A result as it is compared with others: a text, the one number that a tensor is full of, or its shape and numbers."""
    if value is None or isinstance(value, str):
        return value
    numbers = [round(number, DIGITS) + 0.0 for number in value.double().flatten().tolist()]  # -0.0 becomes 0.0
    return numbers[0] if numbers and len(set(numbers)) == 1 else (tuple(value.shape), tuple(numbers))
