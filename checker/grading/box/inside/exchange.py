"""The outcome of a function's call as a JSON record, and the outcome again from such a record.

A student's function is called inside a box. There `encoded` makes a record of the `Outcome`
(`shared/exercises/calling.py`). The record leaves through a pipe, and outside `decoded` makes an `Outcome` of it. A
function that returned two advantages, 0.5 and -0.5, gives

    {
      "raised": null,
      "where": "",
      "harm": "",
      "complaint": "",
      "value": {"shape": [2], "float64": "AAAAAAAA4D8AAAAAAADgvw=="},
      "gradient": null,
      "blank": false
    }

The record comes from an untrusted process: the student's code runs beside `encoded` and may write any JSON into the
pipe. So `decoded` takes any dict without raising. A tensor of a wrong form becomes None, a sentence of a wrong type
becomes "", and longer texts are cut. Whether a record is a dict at all is for the caller to look at.

All tensors travel as float64; what a function returned has its type beside it (`observed.py`). Numbers travel bit for bit, as
the base64 of their bytes: the gradient of a model has thousands, and as decimals these took longer than the function.

torch and `shared` are imported inside the functions that use them, so that this module can be imported without them.
They load slowly; `answers.py` loads them once, before the first call.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING

from checker.grading.box.inside.observed import observed
from checker.grading.box.inside.tensors import LONGEST_TEXT, decoded_tensor, encoded_tensor

if TYPE_CHECKING:
    from torch import Tensor

    from shared.exercises.calling import Outcome

FIELDS_FOR_A_CALL = ("call", "result", "gradient", "relevant")  # those of an exercise that `calling.call` reads
LONGEST_SENTENCE = 1_000  # characters: a submission must not fill the report
NOTHING_TO_COMPARE = "it returned nothing that can be compared."


def outcome_of(function: Callable, case: dict, exercise_fields: dict) -> dict:
    """Call the function on one case and return the encoded outcome, with what is decided on outside; see `observed.py`.

    Args:
        function: the student's.
        case: the arguments of the call by their names.
        exercise_fields: FIELDS_FOR_A_CALL of the exercise by their names; others are not read.
    """
    from shared.exercises.calling import call

    # Stands in for the `Exercise`. The exercise itself holds the reference solution, which must not be in a box.
    exercise = SimpleNamespace(**{name: exercise_fields[name] for name in FIELDS_FOR_A_CALL})
    seen = {}
    outcome = call(exercise, function, case, observe=lambda *given: seen.update(observed(*given)))
    return encoded(outcome) | seen


def encoded(outcome: "Outcome") -> dict:
    """The record of an outcome, as in the module's example."""
    return {
        "raised": outcome.raised,
        "where": outcome.where,
        "harm": outcome.harm,
        "complaint": outcome.complaint,
        "value": _encoded_value(outcome.value),
        "gradient": encoded_tensor(outcome.gradient),
        "blank": bool(outcome.blank),
    }


def decoded(record: dict) -> "Outcome":
    """The outcome that a record stands for. All its fields have their declared types, whatever the dict holds.

    A record without an error, a value and a complaint gets the complaint NOTHING_TO_COMPARE.

    Raises:
        AttributeError: the record is not a dict.
    """
    from shared.exercises.calling import Outcome

    raised = _decoded_sentence(record.get("raised")) or None
    complaint = _decoded_sentence(record.get("complaint"))
    value = _decoded_value(record.get("value"))
    if raised is None and value is None and not complaint:
        complaint = NOTHING_TO_COMPARE
    return Outcome(
        raised=raised,
        where=_decoded_sentence(record.get("where")),
        harm=_decoded_sentence(record.get("harm")),
        complaint=complaint,
        value=value,
        gradient=decoded_tensor(record.get("gradient")),
        blank=record.get("blank") is True,
    )


def _encoded_value(value: "Tensor | str | None") -> dict | str | None:
    """A text, cut to LONGEST_TEXT, or a tensor's record."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    return encoded_tensor(value)


def _decoded_value(value: object) -> "Tensor | str | None":
    """A text, cut to LONGEST_TEXT, or the tensor that a record stands for; None for anything else."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    return decoded_tensor(value)


def _decoded_sentence(sentence: object) -> str:
    """The sentence, cut to LONGEST_SENTENCE; "" for what is no text."""
    if not isinstance(sentence, str):
        return ""
    return sentence[:LONGEST_SENTENCE]
