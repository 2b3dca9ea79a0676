"""The number that a setting comes to, followed through names, defaults, arguments, fields and dictionaries.

All of it gives up rather than guess: where two values are possible there is none.
"""

import ast
from dataclasses import dataclass

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import argument, called, keyword, number, parameters, plain_name

FAR = 6  # steps from one name to the next that are followed


@dataclass(frozen=True)
class Frame:
    """A function with the call that entered it, and the frame in which that call stands."""

    function: ast.AST | None
    call: ast.Call | None = None
    outer: "Frame | None" = None


def given(code: Code, call: ast.Call, name: str) -> ast.expr | None:
    """The argument of this name: by keyword, out of a dictionary passed with `**`, or in its `generation_config`."""
    value = keyword(call, name)
    if value is not None:
        return value
    for spread in (k.value for k in call.keywords if k.arg is None):
        value = _entry(code.resolve(spread), name)
        if value is not None:
            return value
    config = keyword(call, "generation_config", "sampling_params")
    made = None if config is None else code.resolve(config)
    return keyword(made, name) if isinstance(made, ast.Call) else None


def _entry(node: ast.expr, name: str) -> ast.expr | None:
    """The value under a key of `{"key": value}` or `dict(key=value)`."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values)
        return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == name), None)
    return keyword(node, name) if called(node) == "dict" else None


def value(code: Code, node: ast.expr | None, frame: Frame, far: int = FAR) -> float | None:
    """The number that an expression comes to in a frame; None where that cannot be seen."""
    if node is None or far == 0:
        return None
    found = number(node)
    if found is not None:
        return found
    if isinstance(node, ast.Name):
        stands_for = code.resolve(node)
        if stands_for is not node:
            return value(code, stands_for, frame, far - 1)
        if node.id in parameters(frame.function):
            return _of_parameter(code, node.id, frame, far - 1)
    if called(node) in ("max", "float") and node.args:  # `max(1e-6, temperature)` guards against a zero
        guarded = [value(code, argument, frame, far - 1) for argument in node.args]
        return None if None in guarded else max(guarded)
    if isinstance(node, ast.IfExp):  # `temperature if sample else None`
        told = [part for part in (node.body, node.orelse) if getattr(part, "value", part) is not None]
        return value(code, told[0], frame, far - 1) if len(told) == 1 else None
    if isinstance(node, ast.Attribute):
        return _of_field(code, node.attr, far - 1)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return value(code, _entry(code.resolve(node.value), node.slice.value), frame, far - 1)
    return None


def _of_parameter(code: Code, name: str, frame: Frame, far: int) -> float | None:
    """The value that the call that entered the frame passes, else what all calls pass, else the default."""
    function = frame.function
    if frame.call is not None:
        passed = argument(frame.call, function, name)
        return default(code, function, name) if passed is None else value(code, passed, frame.outer, far)
    calls = [call for _, call in code.calls(getattr(function, "name", "")) if code.procedure(call) is function]
    passed = [argument(call, function, name) for call in calls]
    if passed and None not in passed:
        holders = [code.scope(call) for call in calls]
        return _agreed([value(code, node, Frame(holder), far) for node, holder in zip(passed, holders)])
    return default(code, function, name)


def default(code: Code, function: ast.AST, name: str) -> float | None:
    """The number that a parameter is when it is left out."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults)]
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults)
    node = next((node for parameter, node in pairs if parameter.arg == name), None)
    return None if node is None else number(code.resolve(node))


def _of_field(code: Code, name: str, far: int) -> float | None:
    """The number of `config.name` or `self.name`: what a constructor is told, else what is assigned, else the default."""
    told = [keyword(call, name) for _, call in code.walk(ast.Call) if called(call)[:1].isupper()]
    told = [node for node in told if node is not None and getattr(node, "attr", "") != name]
    assigned = []
    fields = []
    for _, node in code.walk(ast.Assign, ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Attribute) and target.attr == name:
            assigned.append(node.value)
        elif plain_name(target) == name and isinstance(code.parent(node), ast.ClassDef):
            fields.append(node.value)
    for candidates in (told, assigned, fields):
        found = [value(code, node, Frame(code.scope(node)), far) for node in candidates if node is not None]
        if found:
            return _agreed(found)
    return None


def _agreed(values: list[float | None]) -> float | None:
    return values[0] if len(set(values)) == 1 else None
