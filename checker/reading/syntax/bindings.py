"""What a statement binds names to: by assignment, by a loop, by a comprehension, by appending."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from checker.rules.syntax.expressions import called

STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.comprehension)
ADDING = ("append", "extend")  # calls that put something into a list
BINDING = (*STATEMENTS, ast.Call)


@dataclass(frozen=True)
class Binding:
    """A name gets a value: by assignment, by a loop over it (`plain` is then False), or by appending it."""

    name: str
    value: ast.expr
    statement: ast.AST
    plain: bool


def bound(node: ast.AST) -> Iterator[tuple[str, ast.expr, bool]]:
    """(name, value, whether by plain assignment) of one statement, loop or `append`."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _matched(target, node.value, isinstance(target, ast.Name))
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        if node.value is not None:
            yield from _matched(node.target, node.value, True)
    elif isinstance(node, ast.AugAssign):
        yield from _matched(node.target, node.value, False)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from _matched(node.target, node.iter, False)
    elif called(node) in ADDING and isinstance(node.func.value, ast.Name) and node.args:
        yield node.func.value.id, node.args[0], False


def _matched(target: ast.expr, value: ast.expr, plain: bool) -> Iterator[tuple[str, ast.expr, bool]]:
    """Names of a target with the part of the value that each gets; through `zip` and `enumerate` too."""
    if isinstance(target, ast.Name):
        yield target.id, value, plain
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = [value] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            parts = value.elts
        elif called(value) == "zip" and len(value.args) == len(target.elts):
            parts = value.args
        elif called(value) == "enumerate" and len(target.elts) == 2 and value.args:
            parts = [ast.Constant(0), value.args[0]]
        for inner, part in zip(target.elts, parts):
            yield from _matched(inner, part, isinstance(value, ast.Tuple))
