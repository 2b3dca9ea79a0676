"""Find the slips in a wrong function: known mistakes with which the reference does exactly what the function does.

A *slip* is a known mistake, written as a change of one step of the reference (`shared/exercises/steps.py`). If the
reference with "the -1 is missing" gives what the student's function gives in all 125 cases, that is the mistake.
"""

from collections.abc import Callable
from dataclasses import replace

from shared.exercises.calling import Outcome
from shared.exercises.comparing import reference_outcome, same_outcome
from shared.exercises.exercise import Case, Exercise
from shared.exercises.steps import Slip


def find_explanations(
    exercise: Exercise, cases: list[Case], outcomes: list[Outcome], time_left: Callable[[], bool]
) -> list[tuple[Slip, ...]]:
    """Find what explains every outcome: each slip that does it alone or, where none does, each pair that does.

    Args:
        cases: in any order; cases in which the function is wrong should come first, as they refute a wrong guess
            soonest.
        outcomes: of the student's function in these cases, in the same order.
        time_left: returns False when the search has to end.

    Returns:
        The explanations, one slip or two each. No case tells them apart; of those in the same words the first stands
        for all. Empty when nothing explains every outcome, or when time is up before anything is found.
    """
    always_raises = all(outcome.raised is not None for outcome in outcomes)
    found = {}
    for slips in exercise.steps.combinations():
        is_found_alone = found and len(slips) > 1 and len(next(iter(found))) == 1
        if is_found_alone or not time_left():
            break
        # Errors count as the same outcome. Of a function that always raises, the first message has to agree too,
        # or every slip that always raises would explain it.
        if always_raises and reference_outcome(exercise, cases[0], slips).raised != outcomes[0].raised:
            continue
        if _explain_all(exercise, slips, cases, outcomes):
            found.setdefault(tuple(slip.explanation for slip in slips), slips)
    return list(found.values())


def _explain_all(exercise: Exercise, slips: tuple[Slip, ...], cases: list[Case], outcomes: list[Outcome]) -> bool:
    """True when the reference with these slips has these outcomes in every case."""
    # First the value in one case, without a gradient, which costs little: it refutes most slips.
    first_value = reference_outcome(exercise, cases[0], slips, with_gradient=False)
    if not same_outcome(replace(outcomes[0], gradient=None), first_value, exercise.tolerance):
        return False
    return all(
        same_outcome(outcome, reference_outcome(exercise, case, slips), exercise.tolerance)
        for case, outcome in zip(cases, outcomes)
    )
