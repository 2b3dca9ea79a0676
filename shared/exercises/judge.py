"""How a check judges a student's function: probes, a comparison with the reference, and the known mistakes.

A check runs the function on probes and compares with the reference. When they differ it looks whether the function
behaves like one of the known wrong ones (`shared/exercises/mistakes/`) and says which, why it matters and where to look.
`shared/check.py` holds the exercises.
"""

import copy
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass

import torch
from torch import Tensor

from shared.exercises.mistakes import Mistakes

TIME_LIMIT = 10  # seconds for all probes together


@dataclass(frozen=True)
class Probe:
    """Arguments to call the function with.

    gradient_of: the position of the tensor or model whose gradient is compared as well; None for no gradient.
    relevant: (same shape as the result) where the result matters; None for everywhere.
    """

    arguments: tuple
    gradient_of: int | None = None
    relevant: Tensor | None = None


@dataclass(frozen=True)
class Exercise:
    """What a check needs to know: the reference, the probes, how near is near enough, and the known mistakes."""

    name: str
    reference: Callable
    probes: Callable[[], Sequence[Probe]]
    mistakes: Mistakes
    tolerance: float = 1e-4


class Problem(Exception):
    """Something about a result that can be told without a comparison, as a sentence."""


def run(exercise: Exercise, function: Callable) -> None:
    """Run an exercise's probes through `function` and print the verdict."""
    passed, verdict = judge(exercise, function)
    print(f"{'✓' if passed else '✗'} {exercise.name}: {verdict}")


def judge(exercise: Exercise, function: Callable) -> tuple[bool, str]:
    """Whether the function passes, and the sentence to say about it."""
    probes = exercise.probes()
    expected = [_call(exercise.reference, probe) for probe in probes]
    try:
        with time_limit(TIME_LIMIT):
            found = [_call(function, probe, right) for probe, right in zip(probes, expected)]
    except Problem as problem:
        named = _recognise(exercise, probes, function)
        return False, named or str(problem)
    if _agree(found, expected, exercise.tolerance):
        return True, f"right on {len(probes)} probe{'s' if len(probes) > 1 else ''}."
    named = _recognise(exercise, probes, function)
    return False, named or _difference(probes, found, expected, exercise.tolerance)


@dataclass(frozen=True)
class _Outcome:
    """What a call came to: the value, and the gradient that was asked for (None when there is none).

    A function that returns a text has it in `text`, and the value 0.
    """

    value: Tensor
    gradient: Tensor | None
    text: str | None = None


def _call(function: Callable, probe: Probe, expected: _Outcome | None = None) -> _Outcome:
    """Call with a private copy of the arguments. With `expected`, refuse results of another type or shape."""
    arguments = copy.deepcopy(probe.arguments)
    source = None if probe.gradient_of is None else arguments[probe.gradient_of]
    if isinstance(source, Tensor):
        source.requires_grad_(True)
    try:
        result = function(*arguments)
    except Problem:
        raise
    except NotImplementedError as error:
        raise Problem(f"not filled in yet ({error}).") from error
    except Exception as error:
        raise Problem(_where_it_raised(error)) from error
    if expected is not None:
        _refuse_modified(arguments, probe)
    text = result if isinstance(result, str) and (expected is None or expected.text is not None) else None
    if expected is not None and expected.text is not None and text is None:
        raise Problem(f"it returned {_short(result)}; expected a text such as {expected.text!r}.")
    value = _as_tensor(result) if text is None else torch.zeros(())
    if expected is not None and value.shape != expected.value.shape:
        raise Problem(f"it returned the shape {tuple(value.shape)}; expected {tuple(expected.value.shape)}.")
    gradient = None
    if source is not None and value.requires_grad:
        gradient = _gradient(value, source, probe.relevant)
    value = value.detach()
    if probe.relevant is not None and value.shape == probe.relevant.shape:
        value = value * probe.relevant
    return _Outcome(value, gradient, text)


def _as_tensor(result) -> Tensor:
    if result is None:
        raise Problem("it returned None. Is the `return` missing?")
    if isinstance(result, tuple):
        raise Problem(f"it returned a tuple of {len(result)} things; return the one result alone.")
    try:
        value = torch.as_tensor(result)
    except (TypeError, ValueError, RuntimeError) as error:
        raise Problem(
            f"it returned {type(result).__name__} where numbers are expected: {str(result)[:60]!r}."
        ) from error
    return value if value.dtype == torch.float64 else value.float()


def _gradient(value: Tensor, source, relevant: Tensor | None) -> Tensor:
    """The gradient of the weighted sum of the value, all of `source` (a tensor, or a model's parameters) in one row."""
    weights = torch.linspace(0.5, 1.5, value.numel()).view(value.shape)
    if relevant is not None and relevant.shape == value.shape:
        weights = weights * relevant
    wanted = [source] if isinstance(source, Tensor) else list(source.parameters())
    gradients = torch.autograd.grad((value * weights).sum(), wanted, allow_unused=True)
    return torch.cat([torch.zeros_like(w).flatten() if g is None else g.flatten() for g, w in zip(gradients, wanted)])


def _refuse_modified(arguments: tuple, probe: Probe) -> None:
    for position, (now, before) in enumerate(zip(arguments, probe.arguments), 1):
        if not _same(now, before):
            raise Problem(
                f"it changes its argument number {position} in place (an `x -= ...` or `x[...] = ...`). Work on a new "
                "tensor, or what uses the argument afterwards gets something else."
            )


def _same(now, before) -> bool:
    if isinstance(now, torch.nn.Module):
        return True  # a backward pass may leave gradients there
    if is_dataclass(now):
        return all(_same(getattr(now, f.name), getattr(before, f.name)) for f in fields(now))
    return torch.equal(now, before) if isinstance(now, Tensor) else now == before


def _where_it_raised(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    where = f", in line {own[0].lineno} of the cell or file: `{own[0].line}`" if own and own[0].line else ""
    message = str(error).strip().splitlines()[0] if str(error).strip() else "no message"
    return f"it raised {type(error).__name__}: {message}{where}."


def _agree(found: list[_Outcome], expected: list[_Outcome], tolerance: float) -> bool:
    return all(
        f.text == e.text and _near(f.value, e.value, tolerance) and _near(f.gradient, e.gradient, tolerance)
        for f, e in zip(found, expected)
    )


def _near(found: Tensor | None, expected: Tensor | None, tolerance: float) -> bool:
    """Equal up to the tolerance relative to the largest expected value; nan equals nan."""
    if found is None or expected is None:
        return expected is None or bool((expected == 0).all())
    if found.shape != expected.shape:
        return False
    scale = max(1.0, expected.nan_to_num().abs().max().item()) if expected.numel() else 1.0
    return torch.allclose(found.double(), expected.double(), rtol=0, atol=tolerance * scale, equal_nan=True)


def _recognise(exercise: Exercise, probes: Sequence[Probe], function: Callable) -> str | None:
    """The explanation of the first known mistake that behaves like the function on every probe, None for none."""
    found = [_attempt(function, probe) for probe in probes]
    if not any(found):
        return None
    for mistake in exercise.mistakes:
        wrong = [_attempt(mistake.function, probe) for probe in probes]
        if all(_alike(f, w, exercise.tolerance) for f, w in zip(found, wrong)):
            return mistake.explanation
    return None


def _attempt(function: Callable, probe: Probe) -> _Outcome | None:
    """What the function makes of the probe, None when it makes nothing."""
    try:
        with time_limit(TIME_LIMIT):
            return _call(function, probe)
    except Problem:
        return None


def _alike(one: _Outcome | None, other: _Outcome | None, tolerance: float) -> bool:
    """Whether two calls came to the same; a missing gradient is one of zeros."""
    if one is None or other is None:
        return one is other
    gradients = [o.gradient if o.gradient is not None and o.gradient.any() else torch.zeros(1) for o in (one, other)]
    return one.text == other.text and _near(one.value, other.value, tolerance) and _near(*gradients, tolerance)


def _difference(probes, found, expected, tolerance) -> str:
    """The first probe that differs, in numbers."""
    for number, (probe, f, e) in enumerate(zip(probes, found, expected), 1):
        if f.text != e.text:
            return f"for {_short(probe.arguments)} it says {f.text!r}; expected {e.text!r}."
        if not _near(f.value, e.value, tolerance):
            shown = f" For {_short(probe.arguments)}" if not isinstance(probe.arguments[0], torch.nn.Module) else ""
            return f"probe {number} of {len(probes)} differs.{shown} it gives {_short(f.value)}; expected {_short(e.value)}."
        if not _near(f.gradient, e.gradient, tolerance):
            if f.gradient is None or not f.gradient.any():
                return "the value is right and its gradient is missing: look for `.detach()`, `.item()` or `torch.no_grad()`."
            return "the value is right and its gradient is not: look for a `.detach()` too many or too few."
    return "it differs."


def _short(value, width: int = 160) -> str:
    if isinstance(value, tuple):
        return _clip(", ".join(_short(v, 80) for v in value), width)
    if isinstance(value, Tensor):
        return _clip(
            str([round(v, 4) for v in value.flatten().tolist()]) if value.ndim else f"{value.item():.4f}", width
        )
    return _clip(repr(value), width)


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


@contextmanager
def time_limit(seconds: int):
    """Raise Problem inside the block after so long. Only where the system can interrupt: Unix, main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise Problem(f"it did not return within {seconds} seconds. Is there a loop that never ends?")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
