"""The names that a statement binds: by assignment, by a loop, by a comprehension, by appending."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from checker.reading.syntax.expressions import called

STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.comprehension)
ADDING = ("append", "extend")  # calls that put something into a list


@dataclass(frozen=True)
class Binding:
    """A name and the value that it gets.

    plain: by an assignment, so that the name is the value; not by a loop over it, by `+=` or by appending it.
    """

    name: str
    value: ast.expr
    statement: ast.AST
    plain: bool


def bound(node: ast.AST) -> Iterator[Binding]:
    """The bindings that one statement, loop or `append` makes."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _matched(node, target, node.value, isinstance(target, ast.Name))
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        if node.value is not None:
            yield from _matched(node, node.target, node.value, True)
    elif isinstance(node, ast.AugAssign):
        yield from _matched(node, node.target, node.value, False)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from _matched(node, node.target, node.iter, False)
    elif called(node) in ADDING and isinstance(node.func, ast.Attribute) and node.args:
        if isinstance(node.func.value, ast.Name):
            yield Binding(node.func.value.id, node.args[0], node, False)


def _matched(statement: ast.AST, target: ast.expr, value: ast.expr, plain: bool) -> Iterator[Binding]:
    """The names of a target, each with the part of the value that it gets; through `zip` and `enumerate` too."""
    if isinstance(target, ast.Name):
        yield Binding(target.id, value, statement, plain)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = [value] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            parts = value.elts
        elif called(value) == "zip" and len(value.args) == len(target.elts):
            parts = value.args
        elif called(value) == "enumerate" and len(target.elts) == 2 and value.args:
            parts = [ast.Constant(0), value.args[0]]
        for inner, part in zip(target.elts, parts):
            yield from _matched(statement, inner, part, isinstance(value, ast.Tuple))
