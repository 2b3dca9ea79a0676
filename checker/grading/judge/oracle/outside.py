"""The outcome of a call, decided outside of the box that it ran in: the type of the result, and harm to the arguments.

The record is an untrusted process's, and may hold any JSON: nothing here raises for it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from checker.grading.box.inside import exchange
from checker.grading.box.inside.observed import Other, decoded_result, left

if TYPE_CHECKING:
    from shared.exercises.calling import Outcome


def outcome_outside(record: dict, exercise, case: dict, has_reference: bool = True) -> "Outcome":
    """The outcome of a call, decided outside of the box.

    Args:
        record: what the box sent of it.
        exercise: the fields of an exercise that a call reads.
        case: the arguments that the function was given, as they are here.
        has_reference: false for a part of a student's own task, whose recorded answers are judged here again.
    """
    from shared.exercises.calling import halved, relevant_part
    from shared.exercises.results import NotAResult

    outcome = exchange.decoded(record)
    if outcome.raised is not None or outcome.blank:
        return outcome
    if "result" not in record:  # it was not called, or said so
        said = outcome.complaint or exchange.NOTHING_TO_COMPARE
        return replace(outcome, value=None, gradient=None, complaint=said)
    try:
        result = decoded_result(record["result"])
        value, complaint = exercise.result.read(result)
        complaint = complaint or halved(exercise, result, case)
    except NotAResult as problem:
        return replace(outcome, value=None, gradient=None, complaint=outcome.complaint or str(problem))
    except Other as kind:
        value = outcome.value
        complaint = outcome.complaint or f"it returns a thing of type {kind}."
    except Exception:  # one submission's record must not end the judge of all
        return replace(outcome, value=None, gradient=None, complaint=exchange.NOTHING_TO_COMPARE)
    if hasattr(value, "shape"):
        value = relevant_part(exercise, value, case)
    if not has_reference:
        return replace(outcome, value=value or exercise.again(record.get("answers")), complaint=complaint)
    harm = outcome.harm or _harm(record.get("left"), exercise, case)
    return replace(outcome, value=value, complaint=complaint, harm=harm)


def _harm(left_there: object, exercise, case: dict) -> str:
    """The harm that a function did to its arguments, by what is left of them; "" for none."""
    from shared.exercises import calling

    found_left = left_there if isinstance(left_there, dict) else {}
    asked = (exercise.gradient or "").split()
    for name, value in case.items():
        found = found_left.get(name)
        before = left(value)
        if not isinstance(found, list) or len(found) != len(before) or found[0] != before[0]:
            return calling.CHANGED.format(name)
        if found[1]:
            return calling.CALLS_BACKWARD
        if name in asked and found[2] is False:
            return calling.GRADIENT_SWITCHED_OFF
    return ""
