"""Shrink a case to the smallest in which a function still fails in the same way: greedily, one simplification after the other."""

from collections.abc import Callable, Iterator

from shared.exercises.arguments import lengths, without
from shared.exercises.exercise import Case, Exercise


def shrink(exercise: Exercise, case: Case, fails: Callable[[Case], bool], time_left: Callable[[], bool]) -> Case:
    """Simplify while it fails: fewer rows, then simpler values. Stops when nothing simpler fails, or at the time limit."""
    again = True
    while again:
        again = False
        for smaller in simpler_cases(exercise, case):
            if not time_left():
                return case
            if exercise.valid(smaller) and fails(smaller):
                case = smaller
                again = True
                break
    return case


def simpler_cases(exercise: Exercise, case: Case) -> Iterator[Case]:
    """Cases that are one step simpler, those that leave most away first."""
    yield from exercise.smaller(case)
    yield from _with_less(exercise, case)
    for name, kind in exercise.arguments.items():
        for value in kind.simpler(case[name]):
            yield case | {name: value}


def _with_less(exercise: Exercise, case: Case) -> Iterator[Case]:
    """Along each axis all but one place, then one place less."""
    for axis, length in lengths(exercise.arguments, case).items():
        if length < 2:
            continue
        places = set(range(length))
        if length > 2:
            for place in range(length):
                yield without(exercise.arguments, case, axis, places - {place})
        for place in range(length):
            yield without(exercise.arguments, case, axis, {place})
