"""Small tests and readings of one expression, knowing nothing of the notebook around it."""

import ast
import re
from functools import lru_cache

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
MODULES = {"torch", "np", "numpy", "math", "F", "nn", "statistics", "jnp", "functional"}


def direct_parts(node: ast.AST) -> list[ast.AST]:
    """The nodes directly in a node, but for the marks of reading and writing that every name has."""
    found = []
    if isinstance(node, (ast.Name, ast.Constant)):  # half of all nodes
        return found
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


def called(node: ast.AST | None) -> str:
    """The last name of what a call calls: `torch.exp(x)` is "exp"; "" for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return plain_name(function)


def plain_name(node: ast.AST | None) -> str:
    """The name that an expression is, "" when it is not one."""
    return node.id if isinstance(node, ast.Name) else ""


def subject(call: ast.Call) -> ast.expr | None:
    """The subject of a call: x in `x.std(...)`, in `torch.std(x, ...)` and in `std(x)`; None without any."""
    function = call.func
    if isinstance(function, ast.Attribute):
        root = function.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if plain_name(root) not in MODULES:
            return function.value
    return call.args[0] if call.args else keyword(call, "input")


def names(node: ast.AST) -> set[str]:
    """Every name, attribute and key in brackets that occurs in an expression: a, b, c of `a.b["c"]`."""
    found = set()
    parts = [node]
    for part in parts:
        parts += direct_parts(part)
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.slice, ast.Constant)
            and isinstance(part.slice.value, str)
        ):
            found.add(part.slice.value)
    return found


def mentions(node: ast.AST, pattern: str) -> bool:
    """True if a name in the expression matches, whatever its case."""
    return any(_matches(pattern, name) for name in names(node))


@lru_cache(maxsize=20_000)  # the same few hundred names are asked for the same patterns, in every notebook of a class
def _matches(pattern: str, name: str) -> bool:
    return re.search(pattern, name, re.IGNORECASE) is not None


def parameters(function: ast.AST | None) -> set[str]:
    """The parameters of a function or lambda."""
    if not isinstance(function, FUNCTIONS):
        return set()
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {argument.arg for argument in every if argument is not None}


def keyword(call: ast.Call, *wanted: str) -> ast.expr | None:
    """The value of the first of these keyword arguments that the call has."""
    return next((k.value for k in call.keywords if k.arg in wanted), None)


def argument(call: ast.Call, function: ast.AST, name: str) -> ast.expr | None:
    """The value that a call passes for a parameter of a function; None when it leaves it out."""
    named = keyword(call, name)
    if named is not None:
        return named
    positional = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
    if positional[:1] == ["self"]:
        positional = positional[1:]
    place = positional.index(name) if name in positional else len(call.args)
    before = call.args[: place + 1]
    known = len(before) == place + 1 and not any(isinstance(a, ast.Starred) for a in before)
    return before[-1] if known else None


def same(one: ast.AST, other: ast.AST) -> bool:
    """True if two expressions are written alike."""
    return one is other or (type(one) is type(other) and ast.dump(one) == ast.dump(other))


def number(node: ast.AST | None) -> float | None:
    """The value of a number, with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return node.value
    return None


def is_empty(node: ast.expr) -> bool:
    """True if it is None, [], {} or list(): a place to put things into, not a value."""
    return (
        (isinstance(node, ast.Constant) and node.value is None)
        or (isinstance(node, (ast.List, ast.Tuple)) and not node.elts)
        or (isinstance(node, ast.Dict) and not node.values)
        or (called(node) in ("list", "dict") and not node.args and not node.keywords)
    )


def operands(node: ast.BinOp | ast.AugAssign) -> tuple[ast.expr, ast.expr]:
    """(a, b) of `a / b` and of `a /= b`, whatever the operator."""
    if isinstance(node, ast.AugAssign):
        return node.target, node.value
    return node.left, node.right


def difference(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) of an expression `a - b`."""
    return (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else None


def product(node: ast.AST) -> list[ast.expr]:
    """The factors of `a * b * c`, signs left out; the expression itself when it is no product."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return product(node.operand)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*product(node.left), *product(node.right)]
    return [node]
