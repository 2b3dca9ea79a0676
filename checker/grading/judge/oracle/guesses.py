"""Functions that hand back an argument, or an element of one, without a thought: what they are right in earns nobody points.

Of `vote(texts)`, the most frequent text, they are "the first text", "the last text", "the first letter of the first
text" and so on. A guess that is right in every case is a solution, and none.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from checker.grading.judge.oracle.partial_credit import plain
from shared.exercises.calling import call
from shared.exercises.comparing import first_difference
from shared.exercises.exercise import Exercise

DEPTH = 2  # an element of an element, and no deeper
ELEMENTS = (0, 1, -1)
FIRST = 6  # cases, of which one that a guess can answer has to be


@dataclass(frozen=True)
class Guess:
    """The answers of a guess in all cases, as they are compared with others, and the number of those that are right."""

    given: tuple
    right: int

    def is_made_by(self, values: list) -> bool:
        """True for the values of a function that gave the same in all cases."""
        return tuple(map(plain, values)) == self.given


def guesses(exercise: Exercise, cases: list[dict], expected: Callable) -> Iterator[Guess]:
    """The guesses that are right in some cases and not in all. expected: gives the right outcome by the case's number."""
    for argument in range(len(cases[0])):
        for path in (path for depth in range(DEPTH + 1) for path in product(ELEMENTS, repeat=depth)):
            guess = _handing_back(argument, path)
            outcomes = []
            for case in cases:
                outcomes.append(call(exercise, guess, case))
                if len(outcomes) == FIRST and all(outcome.value is None for outcome in outcomes):
                    break
            wrong = [first_difference(one, expected(n), exercise.tolerance) for n, one in enumerate(outcomes)]
            right = wrong.count(None)
            if 0 < right < len(cases):
                yield Guess(tuple(plain(outcome.value) for outcome in outcomes), right)


def _handing_back(argument: int, path: tuple[int, ...]) -> Callable:
    def guess(*arguments, **named):
        value = [*arguments, *named.values()][argument]
        for element in path:
            value = value[element]
        return value

    return guess
