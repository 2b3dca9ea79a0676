"""One call of a function in a case: what it gave, or what went wrong, in a form that can be compared and told."""

import copy
import inspect
import re
import sysconfig
import traceback
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import FunctionType

import numpy as np
import torch
from torch import Tensor

from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.results import NotAResult, clipped
from shared.exercises.state import changed_settings, restore, settings_now

SHARED = str(Path(__file__).parents[1])
COPIES = {}  # of modules: the module and its copy by the module's id
CHECKS = "shared.exercises"  # the modules of the stand-ins
LOCAL = re.compile(r"\w+\.<locals>\.")  # before the name of a function that was made in another one
NO_MESSAGE = "no message"
NOT_FILLED_IN = "it is not filled in yet"  # begins what is said of a blank exercise
STANDARD_LIBRARY = sysconfig.get_path("stdlib")
TORCH = str(Path(torch.__file__).parent)
GENERATOR = (
    "it has a `yield` and so gives a generator, of which nothing is computed before somebody reads it. `return` the "
    "result instead, a list where several things are asked for."
)
GRADIENT_SWITCHED_OFF = (
    "it switches off the gradient of an argument, `requires_grad_(False)`, for everybody who uses it afterwards. `detach` "
    "gives a tensor that has none."
)
CALLS_BACKWARD = "it calls `backward` itself. Return the loss; the training loop makes the backward pass."
CHANGED = (
    "it changes its argument `{}` in place. Work on a copy: what uses the argument afterwards gets something else."
)
LEAF_CHANGED = "a leaf Variable that requires grad"  # in torch's message
IN_PLACE = "it changes an argument in place, which torch forbids where a gradient is taken by it; work on a copy"


class Unfinished(BaseException):
    """Time is up. Not an Exception, so that a student's `except Exception` lets it through."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call.

    raised: what it raised, as a sentence without its end; None when it returned.
    where: the student's line that raised it, ", in line 3: `...`"; "" when it is not known.
    harm: what it did besides, such as changing an argument; "" for nothing.
    complaint: what is wrong with the type of its result; "" for nothing.
    value: the result as a tensor of float64 or a text; None when it raised or gave something else.
    gradient: by the argument that the exercise names; None when none is asked for or there is none.
    blank: whether it is the blank exercise.
    """

    raised: str | None = None
    where: str = ""
    harm: str = ""
    complaint: str = ""
    value: Tensor | str | None = None
    gradient: Tensor | None = None
    blank: bool = False


def call(
    exercise: Exercise,
    function: Callable,
    case: Case,
    with_gradient: bool = True,
    observe: Callable | None = None,
) -> Outcome:
    """Call a function with its own copy of a case's arguments. Raises nothing but Unfinished.

    observe: is given the result as it is, and the arguments as the function left them.
    """
    if inspect.isgeneratorfunction(function):
        return Outcome(complaint=GENERATOR)
    own = {name: _copied(value) for name, value in case.items()}
    sources = [own[name] for name in exercise.gradient.split()] if exercise.gradient and with_gradient else []
    for source in sources:
        source.requires_grad_(True)
    settings = settings_now()
    gradient = None
    try:
        result = exercise.call(function, own)
        changed = changed_settings(settings)
        restore(settings)  # before anything is made of the result: without recording it would lose its gradient
        if observe is not None:
            observe(result, own)
        value, complaint = exercise.result.read(result)
        complaint = complaint or halved(exercise, result, own)
        harm = f"it changes torch's {changed[0]} for everything that comes after." if changed else _harm(own, case)
        if any(isinstance(source, Tensor) and not source.requires_grad for source in sources):
            harm = harm or GRADIENT_SWITCHED_OFF
        harm = harm or _learns(exercise, own, sources, value)
        # After a backward pass of the function's own, a second one through the same graph raises.
        with suppress(RuntimeError) if harm else nullcontext():
            gradient = _gradient(exercise, value, sources, case)
    except Unfinished:
        raise
    except NotAResult as problem:
        return Outcome(complaint=str(problem))
    except NotImplementedError as error:
        return Outcome(raised=not_filled_in(error), blank=True)
    except BaseException as error:
        message = _message(error)
        if LEAF_CHANGED in message:
            return Outcome(IN_PLACE, _where_it_raised(error))
        what = clipped(type(error).__name__, 60)
        if _is_about_the_result(function, error):
            return Outcome(f"what it returns cannot be used ({what}: {message})")
        if not is_reference(function) and (cause := _of_a_stand_in(error)):
            return Outcome(f"{cause} ({what}: {message})", _where_it_raised(error))
        return Outcome(f"it raised {what}: {message}", _where_it_raised(error))
    finally:
        restore(settings)
    if isinstance(value, Tensor):
        value = relevant_part(exercise, value.detach(), case)
    # The function may have changed the copy of a module, which must not be used again.
    if harm:
        _forget_copies()
    return Outcome(harm=harm, complaint=complaint, value=value, gradient=gradient)


def not_filled_in(error: NotImplementedError) -> str:
    """The words about a blank exercise, with the error's own: another exercise, which this one calls, may have raised it."""
    words = _message(error)
    return NOT_FILLED_IN if words == NO_MESSAGE else f"{NOT_FILLED_IN} ({words})"


def _copied(value):
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, torch.nn.Module):
        return _copied_module(value)
    if type(value) is list:
        return [_copied(item) for item in value]
    if type(value) is str:
        return (value + " ")[:-1]  # equal texts of a notebook are cut out of completions, each an object of its own
    return copy.deepcopy(value)


def _copied_module(module: torch.nn.Module) -> torch.nn.Module:
    """A copy of a module, used again as long as nobody has changed it: to copy takes longer than a forward pass."""
    known, copied = COPIES.get(id(module), (None, None))
    if known is not module or not _same_module(copied, module) or any(p.grad is not None for p in copied.parameters()):
        copied = copy.deepcopy(module)
        COPIES[id(module)] = (module, copied)
    return copied


def _forget_copies() -> None:
    COPIES.clear()


def relevant_part(exercise: Exercise, value: Tensor, case: Case) -> Tensor:
    """The value with 0 where it does not matter."""
    if exercise.relevant is None or value.shape != case[exercise.relevant].shape:
        return value
    return value.masked_fill(case[exercise.relevant] == 0, 0.0)


def _gradient(exercise: Exercise, value, sources: list, case: Case) -> Tensor | None:
    """The gradient of a weighted sum of the value; that by several tensors, a model's or arguments, in one row.

    None where there is none.
    """
    if not sources or not isinstance(value, Tensor) or not value.requires_grad:
        return None
    weights = torch.linspace(0.5, 1.5, value.numel(), dtype=value.dtype).view(value.shape)
    total = (relevant_part(exercise, value, case) * weights).sum()
    wanted = [part for source in sources for part in ([source] if isinstance(source, Tensor) else source.parameters())]
    found = torch.autograd.grad(total, wanted, allow_unused=True)
    filled = [torch.zeros_like(w) if g is None else g for g, w in zip(found, wanted)]
    if len(sources) == 1 and isinstance(sources[0], Tensor):
        return filled[0].double()
    return torch.cat([g.flatten() for g in filled]).double()


def _harm(now: Case, before: Case) -> str:
    for name in before:
        if any(tensor.grad is not None for tensor in _leaves(now[name])):
            return CALLS_BACKWARD
        if not _same(now[name], before[name]):
            return CHANGED.format(name)
    return ""


def halved(exercise: Exercise, result, own: Case) -> str:
    """The sentence on a tensor of float32 that is made of float64, and meets float64 in the notebook; "" for any other."""
    read = [one.dtype for one in own.values() if isinstance(one, Tensor)]
    given = [one.dtype for one in (result.values() if type(result) is dict else [result]) if isinstance(one, Tensor)]
    # A box knows less of an exercise: there it is asked outside.
    if getattr(exercise, "doubles", False) and torch.float64 in read and torch.float32 in given:
        return (
            "of numbers in float64 it returns float32; what it meets next is float64. Keep the type that it is given."
        )
    return ""


def _learns(exercise: Exercise, own: Case, sources: list, value) -> str:
    """The sentence on a loss that has a gradient by a model which does not learn, such as the reference."""
    if not sources or not isinstance(value, Tensor):
        return ""
    others = {name: one for name, one in own.items() if isinstance(one, torch.nn.Module) and one not in sources}
    reached = _reached(value) if others else set()
    for name, model in others.items():
        if reached & {id(parameter) for parameter in model.parameters()}:
            return f"its result has a gradient by `{name}`, which does not learn: score it inside `torch.no_grad()`."
    return ""


def _reached(value: Tensor) -> set[int]:
    """The ids of the leaves to which a backward pass would carry a gradient."""
    waiting, seen, leaves = [value.grad_fn], {None}, set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        leaves.add(id(getattr(node, "variable", None)))
        waiting += [other for other, _ in node.next_functions]
    return leaves


def _leaves(value) -> list[Tensor]:
    """The tensors by which a backward pass may have left gradients."""
    if isinstance(value, torch.nn.Module):
        return list(value.parameters())
    return [value] if isinstance(value, Tensor) and value.is_leaf else []


def _same(now, before) -> bool:
    if type(now) is not type(before):
        return False
    if isinstance(now, torch.nn.Module):
        return _same_module(now, before)
    if isinstance(now, Tensor):
        return now.shape == before.shape and torch.equal(now.nan_to_num(), before.nan_to_num())
    if isinstance(now, np.ndarray):
        return np.array_equal(now, before, equal_nan=now.dtype.kind == "f")
    if is_dataclass(now):
        return all(_same(getattr(now, f.name), getattr(before, f.name)) for f in fields(now))
    if isinstance(now, dict):
        return now.keys() == before.keys() and all(_same(now[key], before[key]) for key in now)
    if isinstance(now, (list, tuple)):
        return len(now) == len(before) and all(map(_same, now, before))
    if type(now).__eq__ is object.__eq__:
        return True  # nothing to compare them by
    return bool(now == before)


def _same_module(now: torch.nn.Module, before: torch.nn.Module) -> bool:
    state, state_before = now.state_dict(), before.state_dict()
    return (
        state.keys() == state_before.keys()
        and all(torch.equal(state[key], state_before[key]) for key in state)
        and [m.training for m in now.modules()] == [m.training for m in before.modules()]
        and [p.requires_grad for p in now.parameters()] == [p.requires_grad for p in before.parameters()]
    )


def _where_it_raised(error: BaseException) -> str:
    """The innermost line of the student's own code, which stands in no library, as the end of a sentence."""
    try:
        frames = [f for f in traceback.extract_tb(error.__traceback__, limit=-50) if _own(f.filename)]
    except Exception:
        frames = []
    return f", in line {frames[-1].lineno}: `{clipped(frames[-1].line, 80)}`" if frames and frames[-1].line else ""


def _is_about_the_result(function: Callable, error: BaseException) -> bool:
    """True where none of the student's lines had a part in the error: the function had returned, or was called wrongly."""
    if is_reference(function) or not isinstance(function, FunctionType):
        return False
    try:
        frames = traceback.extract_tb(error.__traceback__)
    except Exception:
        return False
    is_the_call = isinstance(error, TypeError) and "argument" in _message(error)
    return not is_the_call and all(not _own(frame.filename) for frame in frames)


def _of_a_stand_in(error: BaseException) -> str:
    """The words on an error of the check's own, which stands in for something of the notebook's; "" for any other."""
    if isinstance(error, AttributeError) and type(error.obj).__module__.startswith(CHECKS):
        return (
            f"it asks for `.{clipped(str(error.name), 40)}` of what stands in for the notebook's own while it is judged"
        )
    try:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__, limit=-50)]
    except Exception:
        return ""
    breaks = "what stands in for a function of the notebook's while it is judged cannot work with what it is handed"
    is_ours = files[-1].startswith(str(Path(SHARED, "exercises"))) and any(map(_own, files))
    return breaks if is_ours else ""


def _own(filename: str) -> bool:
    return not filename.startswith((SHARED, TORCH, STANDARD_LIBRARY, "<frozen")) and "site-packages" not in filename


def _without_full_stop(text: str) -> str:
    """The text without the full stop at its end; an ellipsis stays."""
    return text if text.endswith("...") else text.rstrip(".")


def _message(error: BaseException) -> str:
    try:
        lines = str(error)[:2000].strip().splitlines()
    except BaseException:
        return "a message that cannot be shown"
    return _without_full_stop(clipped(LOCAL.sub("", lines[0]), 160)) if lines else NO_MESSAGE
