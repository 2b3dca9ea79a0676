"""Exercises that are not filled in, or not right: a notebook with some runs as far as it can.

    blanks.require(train)                                  stops a cell that needs what is blank, in one sentence; says
                                                           which functions it uses that their check refused
    completion_logps = blanks.or_ours(completion_logps)    goes on with the course's own function
    if blanks.filled(experiment):                          leaves out what shows it

The core is required. What goes beyond it may stay blank.
"""

import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType

from shared.exercises.catalogue import EXERCISES
from shared.exercises.record import REFUSED

BLANK = "NotImplementedError"  # what the body of a blank exercise names


class NotFilledIn(Exception):
    """Exercises that a cell needs are blank. Jupyter shows the sentence alone."""

    def _render_traceback_(self) -> list[str]:
        """The name under which IPython asks an exception for the lines that it shows in place of a traceback."""
        return [str(self)]


def require(*functions: Callable) -> None:
    """Stop the cell if one of these functions is blank, or one of the notebook's that they call.

    If the check of one refused it, the cell says so and goes on: a check can be wrong.
    """
    seen: set[str] = set()
    used = [called for function in functions for called in with_called(function, seen)]
    blank = [function.__name__ for function in used if is_blank(function)]
    if blank:
        what = "it" if len(blank) == 1 else "them"
        raise NotFilledIn(f"Not filled in yet: {', '.join(blank)}. This cell needs {what}.")
    tell_refused([function for function in used if function in REFUSED], "This cell")


def filled(function: FunctionType) -> bool:
    """True if a function beyond the core is filled in; if not, a line says so."""
    if not is_blank(function):
        return True
    print(f"{function.__name__} is beyond the core and not filled in.")
    return False


def or_ours(function: FunctionType) -> Callable:
    """The function; the course's own of its name, called by the names of the function's arguments, if it is not filled in."""
    if filled(function):
        tell_refused([function] if function in REFUSED else [], "What follows")
        return function
    print("What follows uses the course's own.")
    ours = next(exercise.reference() for exercise in EXERCISES.values() if exercise.function == function.__name__)
    signature = inspect.signature(function)
    return lambda *arguments, **named: ours(**signature.bind(*arguments, **named).arguments)


def is_blank(function: FunctionType) -> bool:
    """True if the function is an exercise that is not filled in."""
    return BLANK in function.__code__.co_names


def tell_refused(functions: list[FunctionType], what: str) -> None:
    """Say in one sentence that `what` goes on with functions that their checks refused; nothing if there are none."""
    if functions:
        whose, them = ("its check", "it as it is") if len(functions) == 1 else ("their checks", "them as they are")
        names = ", ".join(function.__name__ for function in functions)
        print(f"Refused by {whose}: {names}. {what} goes on with {them}.")


def with_called(function: Callable, seen: set[str]) -> Iterator[FunctionType]:
    """The notebook's functions that this one calls, each once, and itself the last; those that were seen are left out."""
    if not isinstance(function, FunctionType) or function.__name__ in seen:
        return
    seen.add(function.__name__)
    variables = function.__globals__
    for name in names_in(function.__code__):
        called = variables.get(name)
        if isinstance(called, FunctionType) and called.__globals__ is variables:
            yield from with_called(called, seen)
    yield function


def names_in(code: CodeType) -> Iterator[str]:
    """The names that code uses, that of its inner functions and comprehensions too, in their order."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
