"""Arguments that a function never reads although the right one does, as when it takes a variable of its notebook instead."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType

from checker.reading.syntax.expressions import FUNCTIONS
from checker.reading.syntax.scopes import names_read
from shared.exercises.exercise import Exercise

ALL_AT_ONCE = {"locals", "vars", "eval", "exec"}  # what calls one of these may read any variable


def unread(exercise: Exercise, function: Callable) -> list[str]:
    """The names of the arguments that the function never reads, of those that the reference reads.

    None of a function whose source cannot be had: its bytecode is another one in each version of Python.
    """
    definition = _definition(function)
    if definition is None:
        return []
    read = names_read(definition.body if isinstance(definition.body, list) else [definition.body])
    needed = {name for part in exercise.steps.steps.values() for name in part.reads} & exercise.arguments.keys()
    return [] if read & ALL_AT_ONCE else [name for name in _taken(function) if name in needed - read]


def _definition(function: Callable) -> ast.AST | None:
    """The syntax tree of the function; None where its source is missing, is newer than it, or may be another's."""
    if not isinstance(function, FunctionType):
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError, RecursionError):
        return None
    wanted = (function.__code__.co_name, *_taken(function))
    found = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and _name_and_arguments(node) == wanted]
    return found[0] if len(found) == 1 else None


def _taken(function: FunctionType) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _name_and_arguments(node: ast.AST) -> tuple[str, ...]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return (getattr(node, "name", "<lambda>"), *(one.arg for one in arguments))
