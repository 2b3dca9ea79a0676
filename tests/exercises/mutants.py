"""Wrong versions of a reference, made from the syntax tree of its steps and from its arguments.

Each changes one thing: an operator, a comparison, a constant, an axis, a sign; a line left out, a method call left out
(`.detach()`, `.clamp(...)`), two arguments of a call or of the function exchanged; and, what syntax alone does not give, an
argument replaced by its usual value and a size written down as a number.
"""

import ast
import copy
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar, Size
from shared.exercises.comparing import compare
from shared.exercises.exercise import Exercise
from shared.exercises.steps import Part, Slip, Steps

OPERATORS = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.LtE: (ast.Lt,),
    ast.GtE: (ast.Gt,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
EXCHANGED_CALLS = {"minimum": "maximum", "maximum": "minimum", "sum": "mean", "mean": "sum", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """A wrong reference: what was changed, and the function."""

    change: str
    function: object


def mutants_of(exercise: Exercise) -> Iterator[Mutant]:
    for name, part in exercise.steps.steps.items():
        for change, function in _mutated(part.function):
            steps = copy.copy(exercise.steps.steps) | {name: replace(part, function=function)}
            mutated = replace(exercise, steps=Steps(steps))
            yield Mutant(f"{name}: {change}", mutated.reference())
    yield from _of_arguments(exercise)


def accepted(exercise: Exercise, mutants: list[Mutant], seed: int) -> list[Mutant]:
    """The mutants that no case of this seed tells from the reference."""
    cases = exercise.cases(seed)
    return [m for m in mutants if not any(compare(exercise, m.function, case).difference for case in cases)]


def _of_arguments(exercise: Exercise) -> Iterator[Mutant]:
    """Arguments that are not used, and those of one kind exchanged."""
    for name, kind in exercise.arguments.items():
        for value, function in _usual(kind, name in (exercise.gradient or "").split()):
            slip = Slip(name, "", Part(function, (name,)))
            yield Mutant(f"{name} is {value}", exercise.reference((slip,)))
    for one, other in combinations(exercise.arguments, 2):
        kinds = exercise.arguments[one], exercise.arguments[other]
        if type(kinds[0]) is type(kinds[1]) and kinds[0].axes == kinds[1].axes:
            yield Mutant(f"{one} and {other} exchanged", _exchanged(exercise, one, other))


def _exchanged(exercise: Exercise, one: str, other: str):
    reference = exercise.reference()

    def function(*arguments):
        case = dict(zip(exercise.arguments, arguments))
        case[one], case[other] = case[other], case[one]
        return reference(*case.values())

    return function


def _usual(kind, with_gradient: bool) -> Iterator[tuple[str, object]]:
    if isinstance(kind, (Scalar, Size)):
        yield f"always {kind.usual}", lambda value: kind.usual
    if isinstance(kind, Mask):
        yield "always 1", torch.ones_like
    if isinstance(kind, Numbers):
        yield "always 0", lambda value: value * 0
        if with_gradient:
            yield "detached", torch.Tensor.detach


def _mutated(function) -> Iterator[tuple[str, object]]:
    """Every version of a function with one change, and what was changed."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree.body[0].decorator_list = []
    for source in versions_of(tree, _changes):
        with suppress(SyntaxError, ValueError):
            variables = dict(vars(sys.modules[function.__module__]))
            exec(compile(source, "<mutant>", "exec"), variables)
            yield changed_line(ast.unparse(tree), source), variables[function.__name__]


def versions_of(tree: ast.AST, changes_of: Callable) -> Iterator[str]:
    """The source of every version of a tree with one change.

    changes_of: gives for a node, and the tree that it is in, the changes that can be made to it, each as a function.
    """
    for place in range(len(list(ast.walk(tree)))):
        number = 0
        while True:
            changed = copy.deepcopy(tree)
            changes = list(changes_of(list(ast.walk(changed))[place], changed))
            if number >= len(changes):
                break
            changes[number]()
            number += 1
            with suppress(ValueError):
                if (source := ast.unparse(ast.fix_missing_locations(changed))) != ast.unparse(tree):
                    yield source


def changed_line(before: str, after: str) -> str:
    """The new lines of the source, or else those that are gone from it, as one line."""
    old = [line.strip() for line in before.splitlines()]
    new = [line.strip() for line in after.splitlines()]
    fresh = [line for line in new if line not in old]
    gone = [line for line in old if line not in new]
    return " ".join(fresh) or f"without {' '.join(gone)}"


def _changes(node: ast.AST, tree: ast.AST) -> Iterator:
    """The changes that can be made to a node, each as a function that makes it."""
    if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
        for other in OPERATORS.get(type(node.op), ()):
            yield lambda other=other: setattr(node, "op", other())
    if isinstance(node, ast.BinOp):
        yield lambda: become(node, tree, node.left)
        yield lambda: become(node, tree, node.right)
        if isinstance(node.op, (ast.Sub, ast.Div, ast.Pow)):
            yield lambda: vars(node).update(left=node.right, right=node.left)
    if isinstance(node, ast.Compare):
        for other in OPERATORS.get(type(node.ops[0]), ()):
            yield lambda other=other: node.ops.__setitem__(0, other())
    if isinstance(node, ast.UnaryOp):
        yield lambda: become(node, tree, node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        yield lambda: setattr(node, "value", node.value + 1)
        yield lambda: setattr(node, "value", node.value - 1)
    if isinstance(node, ast.Call):
        yield from _changes_of_a_call(node, tree)
    if isinstance(node, ast.FunctionDef):
        for place, statement in enumerate(node.body):
            if not isinstance(statement, (ast.Return, ast.Expr)):
                yield lambda place=place: node.body.pop(place)


def _changes_of_a_call(node: ast.Call, tree: ast.AST) -> Iterator:
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in EXCHANGED_CALLS:
            yield lambda: setattr(node.func, "attr", EXCHANGED_CALLS[node.func.attr])
        if not isinstance(node.func.value, ast.Name) or node.func.value.id != "torch":
            yield lambda: become(node, tree, node.func.value)
        elif node.args:
            yield lambda: become(node, tree, node.args[0])
    if len(node.args) >= 2:
        yield lambda: node.args.__setitem__(slice(0, 2), node.args[1::-1])
    for place in range(len(node.keywords)):
        yield lambda place=place: node.keywords.pop(place)


def become(node: ast.AST, tree: ast.AST, other: ast.AST | list) -> None:
    """Put another node in the place of one, or several."""

    class Put(ast.NodeTransformer):
        def visit(self, visited):
            return other if visited is node else self.generic_visit(visited)

    Put().visit(tree)
