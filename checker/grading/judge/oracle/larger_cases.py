"""Hidden cases that are larger than those of a check, for functions that are right only up to the sizes they have seen."""

from contextlib import suppress
from itertools import chain, islice

from torch import Tensor

from shared.exercises.calling import call
from shared.exercises.drawing import WIDE, Draw
from shared.exercises.exercise import MOST_LONG, Case, Exercise

COUNT = 10  # cases
FACTOR = 4  # how much longer an axis may be than a check draws it
FACTOR_LONG = 5  # how much longer the one long size is than in a check
MOST_NUMBERS = 100_000  # of a result, and its gradient: a box sends them in one line
WIDER = (WIDE, 0)  # the surplus of the first two, which are wide
TRIES = 20  # for each case: some of an exercise's draws are not valid


class LargeDraw(Draw):
    """Chance by which axes are as long as a check draws them at the most, or several times that; wide ones too."""

    wider = 0  # the surplus of a wide case beside a check's

    def size(self, most: int = 4, least: int = 1) -> int:
        return self.randint(max(least, most), FACTOR * max(least, most)) + self.more()

    def more(self) -> int:
        return super().more() + self.wider

    def sample(self, population, k, **options) -> list:
        return super().sample(population, min(k, len(population)), **options)


def larger_cases(exercise: Exercise, seed: int) -> list[Case]:
    """Large cases that are valid and that the reference can compute; fewer, or none, where it can compute few.

    The first two are wider than the check's wide case, the next three longer than its longest. None is both: its numbers
    would be too many, or too small to tell from 0.
    """
    chance = LargeDraw(f"{exercise.function} {seed} larger")
    wide = (_larger(exercise, chance, wider=surplus) for surplus in WIDER)
    long = (_larger(exercise, chance, longer=size) for size in range(1, MOST_LONG + 1))
    usual = (_larger(exercise, chance) for _ in range(COUNT))
    return list(islice(filter(None, chain(wide, long, usual)), COUNT))


def _larger(exercise: Exercise, chance: LargeDraw, wider: int | None = None, longer: int = 0) -> Case | None:
    """A case, or None where so many draws bring none: wide, with a surplus, or with a size (counted from 1) that is long."""
    chance.is_wide = wider is not None
    chance.wider = wider or 0
    chance.longer = (longer, FACTOR_LONG * exercise.long)
    for _ in range(TRIES):
        chance.asked = 0
        # A model has so many positions, and a float so many digits.
        with suppress(IndexError, OverflowError):
            case = exercise.draw(chance)
            if exercise.valid(case) and _bears(exercise, case):
                return case
    return None


def _bears(exercise: Exercise, case: Case) -> bool:
    outcome = call(exercise, exercise.reference(), case)
    numbers = sum(part.numel() for part in (outcome.value, outcome.gradient) if isinstance(part, Tensor))
    return numbers <= MOST_NUMBERS and not (outcome.raised or outcome.complaint or outcome.harm)
