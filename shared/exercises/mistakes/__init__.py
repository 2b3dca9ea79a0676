"""Known wrong versions of the exercises' functions, each with its explanation.

`shared.check` compares a student's function with these when it differs from the reference, and says by name what is
wrong. Each is also a test: the check must recognise it. One file for each exercise.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A wrong function, and what a student should be told whose function behaves like it."""

    function: Callable
    explanation: str

    @property
    def name(self) -> str:
        return self.function.__name__


class Mistakes(list):
    """The mistakes of one exercise: `@mistakes.known("what, why it matters, where to look")` adds a function."""

    def known(self, explanation: str) -> Callable[[Callable], Callable]:
        def add(function: Callable) -> Callable:
            self.append(Mistake(function, explanation))
            return function

        return add
