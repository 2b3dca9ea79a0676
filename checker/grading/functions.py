"""A student's function, taken out of the notebook with what it needs, by syntax tree: no cell is run.

Taken are the definitions, imports and plain constants that the function uses, and those that these use. What a notebook
computes (a model, rows, the result of training) is not taken: a function that leans on it says so by a NameError.
"""

import ast
import builtins
import symtable
from collections.abc import Iterator
from dataclasses import dataclass

from checker.markers import BEGIN
from checker.notebook import Notebook
from checker.rules.syntax.trees import Tree, read_trees

PROJECT = "shared"
Definition = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Taken:
    """A function as a program of its own.

    source: definitions in the notebook's order; "" where `problem` says why there is none.
    imports: the project's modules that it imports, "shared.tasks.dots" for `from shared.tasks import dots`.
    """

    source: str
    imports: frozenset[str] = frozenset()
    problem: str = ""


@dataclass(frozen=True)
class Definitions:
    """The names that a notebook defines at top level, by their last definition, and where it stands.

    filled: names of functions that hold an exercise.
    """

    nodes: dict[str, tuple[tuple[int, int], Definition]]
    filled: frozenset[str]


def definitions(notebook: Notebook) -> Definitions:
    """What a notebook defines. A cell that is not Python defines nothing."""
    nodes = {}
    filled = set()
    for tree in read_trees(notebook):
        for node in tree.module.body:
            for name in _defined_by(node):
                nodes[name] = ((tree.cell, node.lineno), node)
                if isinstance(node, ast.FunctionDef) and _holds_exercise(node, tree):
                    filled.add(name)
    return Definitions(nodes, frozenset(filled))


def take(
    name: str,
    student: Definitions,
    edition: Definitions,
    replaced: frozenset[str] = frozenset(),
    beside: tuple[str, ...] = (),
) -> Taken:
    """The program that defines a function of the student's.

    Args:
        name: the function that is to be called: an exercise, or one of the edition's that uses exercises.
        student, edition: what was handed in, and what was handed out. Of the latter are taken the functions that are no
            exercises and that only the edition's own functions use.
        replaced: exercises of which the edition's solution is taken.
        beside: further functions that the program is to define.
    """
    chosen = {}
    waiting = [(first, first not in edition.filled and first in edition.nodes) for first in (name, *beside)]
    while waiting:
        wanted, from_edition = waiting.pop()
        if wanted in chosen:
            continue
        exercise = wanted in edition.filled
        own = wanted in student.nodes and (exercise or not from_edition) and wanted not in replaced
        if not own and (exercise and wanted not in replaced or wanted == name and wanted not in edition.nodes):
            return Taken("", problem=f"There is no function `{wanted}` in the notebook.")
        source = student if own else edition
        if _can_be_made(wanted, source):  # else it is a builtin, or something that the notebook computes
            chosen[wanted] = (not own, *source.nodes[wanted])
            waiting.extend((used, not own) for used in _names_in(source.nodes[wanted][1]))
    return _program(list(chosen.values()))


def _can_be_made(name: str, source: Definitions, above: frozenset[str] = frozenset()) -> bool:
    """Whether a name can be defined without running a cell: a constant only where all that it is made of can be."""
    if name not in source.nodes or name in above:
        return False
    node = source.nodes[name][1]
    if not isinstance(node, (ast.Assign, ast.AnnAssign)):
        return True
    parts = _names_in(node.value)
    return all(hasattr(builtins, part) or _can_be_made(part, source, above | {name}) for part in parts)


def _program(parts: list[tuple[bool, tuple[int, int], Definition]]) -> Taken:
    nodes = list(dict.fromkeys(node for _, _, node in sorted(parts, key=lambda part: part[:2])))
    imports = frozenset(module for node in nodes for module in imported(node))
    try:
        lines = [ast.unparse(node) for node in nodes]
    except RecursionError:
        return Taken("", problem="The function is nested too deeply to be read.")
    return Taken("\n".join(["from __future__ import annotations", *lines]) + "\n", imports)


def imported(node: ast.AST) -> Iterator[str]:
    """What is imported of the project anywhere in a node: modules, and "module.name" for what is taken from one."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names if _of_project(alias.name))
        elif isinstance(part, ast.ImportFrom) and part.level == 0 and _of_project(part.module or ""):
            yield part.module
            yield from (f"{part.module}.{alias.name}" for alias in part.names)


def _of_project(module: str) -> bool:
    return module == PROJECT or module.startswith(f"{PROJECT}.")


def _holds_exercise(node: ast.FunctionDef, tree: Tree) -> bool:
    return any(line.strip() == BEGIN for line in tree.lines[node.lineno - 1 : node.end_lineno])


def _defined_by(node: ast.AST) -> Iterator[str]:
    """The names that a statement at top level defines, as far as it may be taken."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.Assign) and _is_plain(node.value):
        for target in node.targets:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    elif isinstance(node, ast.AnnAssign) and node.value is not None and _is_plain(node.value):
        if isinstance(node.target, ast.Name):
            yield node.target.id


# Calls that make a constant and run nothing of the notebook: `re.compile(...)`, `frozenset(...)`, `Sampling(...)`.
MAKERS = frozenset(
    {"compile", "dict", "float", "frozenset", "int", "len", "list", "log", "range", "set", "sqrt", "str"}
)
MAKERS_OF_TENSORS = frozenset({"tensor", "arange", "linspace", "zeros", "ones", "array"})


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression is a constant in the widest sense, so that it may be evaluated without running a cell."""
    for part in ast.walk(value):
        if isinstance(part, ast.Call):
            function = part.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name not in MAKERS | MAKERS_OF_TENSORS and not name[:1].isupper():
                return False
        elif isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
    return True


def _names_in(node: ast.AST) -> set[str]:
    """The names of the notebook that a definition reads, wherever in it; its own variables are none of them."""
    try:
        top = symtable.symtable(ast.unparse(node), "cell", "exec")
    except (SyntaxError, RecursionError):  # `return` outside of a function, say: the kernel would refuse it as well
        return set()
    found = set()
    tables = [top]
    for table in tables:  # grows while it is walked
        tables.extend(table.get_children())
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                found.add(symbol.get_name())
    return found
