"""Arguments that a function never reads although the right one does, as when it takes a variable of its notebook instead."""

import dis
from collections.abc import Callable
from types import CodeType, FunctionType

from shared.exercises.exercise import Exercise


def unread(exercise: Exercise, function: Callable) -> list[str]:
    """The names of the arguments that the function never reads, of those that the reference reads."""
    if not isinstance(function, FunctionType):
        return []
    code = function.__code__
    taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    needed = {name for part in exercise.steps.steps.values() for name in part.reads}
    return [name for name in taken if name in needed and name in exercise.arguments and name not in _loaded(code)]


def _loaded(code: CodeType) -> set[str]:
    """The variables that the code reads, or that a function within it may read."""
    loaded = set(code.co_cellvars)
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD"):
            named = instruction.argval  # two names from Python 3.13 on, where two are read at once
            loaded.update(named if isinstance(named, tuple) else [named])
    return loaded
