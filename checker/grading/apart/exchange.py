"""What a call came to, as values that travel as JSON, and back.

The record is that of `shared/exercises/calling.py`. Numbers travel as they are: JSON as Python writes and reads it keeps
every bit of a float, and nan and infinity.
"""

from collections.abc import Callable
from types import SimpleNamespace

SENTENCES = ("raised", "where", "harm", "complaint")
LONGEST = 1_000  # characters of a sentence
LONGEST_TEXT = 10_000  # characters of a text that a function returned


def outcome_of(function: Callable, case: dict, asked: dict) -> dict:
    """Call the function on one case. `asked` holds what an exercise says of a call: call, result, gradient, relevant."""
    from shared.exercises.calling import call

    exercise = SimpleNamespace(**{name: asked[name] for name in ("call", "result", "gradient", "relevant")})
    return encoded(call(exercise, function, case))


def encoded(outcome) -> dict:
    """An outcome as values."""
    sentences = {name: getattr(outcome, name) for name in SENTENCES}
    value = outcome.value[:LONGEST_TEXT] if isinstance(outcome.value, str) else _numbers(outcome.value)
    return sentences | {"value": value, "gradient": _numbers(outcome.gradient), "blank": bool(outcome.blank)}


def decoded(record: dict):
    """The outcome that values stand for. Whatever they are, its fields have the types they claim."""
    from shared.exercises.calling import Outcome

    sentences = {name: _sentence(record.get(name)) or "" for name in SENTENCES}
    raised = sentences.pop("raised") or None
    value = record.get("value")
    value = value[:LONGEST_TEXT] if isinstance(value, str) else _tensor(value)
    if raised is None and value is None and not sentences["complaint"]:
        sentences["complaint"] = "it returned nothing that can be compared."
    gradient = _tensor(record.get("gradient"))
    return Outcome(raised, **sentences, value=value, gradient=gradient, blank=record.get("blank") is True)


def _numbers(tensor) -> dict | None:
    if tensor is None:
        return None
    return {"shape": list(tensor.shape), "numbers": tensor.detach().double().flatten().tolist()}


def _tensor(values: object):
    """A tensor of float64; None for what is none."""
    import torch

    try:
        numbers = torch.tensor([float(number) for number in values["numbers"]], dtype=torch.float64)
        return numbers.view([int(length) for length in values["shape"]])
    except (TypeError, KeyError, ValueError, RuntimeError, OverflowError):
        return None


def _sentence(text: object) -> str | None:
    return text[:LONGEST] if isinstance(text, str) else None
