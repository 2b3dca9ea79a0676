"""The statements at top level of a notebook: the names that each makes, changes and reads. No cell is run."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from checker.reading.layout import sections
from checker.reading.markers import BEGIN
from checker.reading.notebook import Notebook
from checker.reading.syntax.checks import Names, names_of
from checker.reading.syntax.expressions import called
from checker.reading.syntax.scopes import DEFINITIONS, IMPORTS, bound, names_read, running
from checker.reading.syntax.trees import Tree, read_trees

PROJECT = "shared"
BLANKS = "shared.blanks"  # what a notebook does about blank exercises is no part of a function
FUTURE = "from __future__ import annotations"  # the first line of each program
STAR = "*"  # stands for the names of `from module import *`, which are not known
FILE = re.compile(r"[\w./-]{1,200}\.[A-Za-z]\w{0,9}")
NAMESPACES = ("globals", "locals", "vars")  # of a notebook's own names, when they are called at top level
ASSIGNMENTS = (ast.Expr, ast.Assign, ast.AnnAssign)
REPLACING = (*DEFINITIONS, *IMPORTS, ast.Assign, ast.AnnAssign)

Place = tuple[int, int, int]  # number of the cell, line, column
Modules = tuple[tuple[str, str], ...]  # the name of each file, "helpers.py", and its text


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at top level; of an import one name alone.

    section: where it stands, "Cell 6".     lines: the lines of its cell.
    binds: the names that it makes.    changes: names whose value it changes, as `x[0] = 1` and `x.append(1)` do.
    """

    place: Place
    section: str
    node: ast.stmt
    lines: tuple[str, ...]
    binds: frozenset[str]
    changes: frozenset[str]

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, IMPORTS)

    @property
    def is_function(self) -> bool:
        """True for a definition that computes nothing where it stands: a function, a class, a named lambda."""
        return isinstance(self.node, DEFINITIONS) or isinstance(getattr(self.node, "value", None), ast.Lambda)

    @cached_property
    def replaces(self) -> frozenset[str]:
        """The names of which it leaves nothing that they were before, as no `if`, `for` and `try` does."""
        plain = isinstance(self.node, REPLACING) and getattr(self.node, "value", True) is not None
        return self.binds if plain else frozenset()

    @cached_property
    def source(self) -> str:
        """The statement as Python."""
        try:
            return ast.unparse(self.node)
        except (ValueError, RecursionError):  # a number of more digits than Python writes as a decimal
            return "\n".join(self.lines[self.node.lineno - 1 : self.node.end_lineno])

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names of the notebook that it reads, in a function's body too.

        A function's own variables are none of them, nor is what only an annotation names, which nobody evaluates.
        """
        return names_read([self.node])

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that it names in a call, as "table.json" in `open("table.json")`."""
        calls = (part for part in ast.walk(self.node) if isinstance(part, ast.Call))
        texts = (one.value for call in calls for one in call.args if isinstance(one, ast.Constant))
        return frozenset(text for text in texts if isinstance(text, str) and FILE.fullmatch(text))

    @cached_property
    def imports(self) -> frozenset[str]:
        """Its imports of the project, "shared.tasks.dots" for `from shared.tasks import dots`."""
        return frozenset(imported(self.node))


@dataclass(frozen=True)
class Definitions:
    """The definitions of a notebook at top level.

    makers: by name the statements that bind or change it, in the notebook's order.
    filled: names of functions that hold an exercise.
    last_checks: by function, the place of the last check of it.
    modules: the student's own beside the notebook.
    statements: all of them, those that make and change nothing too.
    """

    makers: dict[str, tuple[Statement, ...]]
    filled: frozenset[str]
    last_checks: dict[str, Place]
    modules: Modules = ()
    statements: tuple[Statement, ...] = ()

    @cached_property
    def readers(self) -> dict[str, list[Statement]]:
        """By name the statements that read it, imports apart."""
        found: dict[str, list[Statement]] = {}
        for statement in self.statements:
            for name in () if statement.is_import else statement.reads:
                found.setdefault(name, []).append(statement)
        return found

    def bound(self, name: str) -> tuple[Statement, ...]:
        """The statements that bind a name."""
        return tuple(maker for maker in self.makers.get(name, ()) if name in maker.binds)


def definitions(notebook: Notebook, modules: Modules = ()) -> Definitions:
    """Read the definitions of a notebook. A cell that is not Python defines nothing."""
    trees = read_trees(notebook)
    checks = names_of(trees)
    left_alone = (checks, names_of(trees, BLANKS))
    brought = {alias for tree in trees for node in tree.children if isinstance(node, IMPORTS) for alias in bound(node)}
    section = {cell.number: number for number, cells in sections(notebook).items() for cell in cells}
    makers: dict[str, list[Statement]] = {}
    filled = set()
    last_checks = {}
    all_statements = []
    for tree in trees:
        for node in tree.module.body:
            if _holds_exercise(node, tree):
                filled.add(node.name)
            where = f"Cell {section[tree.cell]}" if section[tree.cell] >= 0 else "the first cells"
            for statement in _statements(node, tree, where, brought, left_alone):
                change = brought.update if statement.is_import else brought.difference_update
                change(statement.replaces)
                all_statements.append(statement)
                for name in statement.binds | statement.changes:
                    makers.setdefault(name, []).append(statement)
        for call, _ in checks.calls(tree):
            if call.args and isinstance(call.args[0], ast.Name):
                function = call.args[0].id
                last_checks[function] = max(
                    last_checks.get(function, (0, 0, 0)), (tree.cell, call.lineno, call.col_offset)
                )
    by_name = {name: tuple(found) for name, found in makers.items()}
    return Definitions(by_name, frozenset(filled), last_checks, modules, tuple(all_statements))


def _statements(
    node: ast.stmt, tree: Tree, section: str, brought: set[str], left_alone: tuple[Names, ...]
) -> Iterator[Statement]:
    """The statement, or one for each name of an import; none for what calls a check."""
    place = (tree.cell, node.lineno, node.col_offset)
    if isinstance(node, IMPORTS):
        for one in one_by_one(node):
            yield Statement(place, section, one, tree.lines, frozenset(bound(one)), frozenset())
        return
    binds, changes = set(), set()
    for part in running([node]):
        if isinstance(part, ast.Call) and any(names.check(part) for names in left_alone):
            return
        binds.update(bound(part), _put_among_names(part))
        changes.update(_changed(part))
    yield Statement(place, section, node, tree.lines, frozenset(binds), frozenset(changes - brought))


def one_by_one(node: ast.Import | ast.ImportFrom) -> Iterator[ast.Import | ast.ImportFrom]:
    """An import for each of its names."""
    for alias in node.names:
        yield ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)


def _put_among_names(part: ast.AST) -> Iterator[str]:
    """The names that `globals()["x"] = 1`, `globals().update(x=1)` and `globals().setdefault("x", 1)` make."""
    if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store) and _is_namespace(part.value):
        name = part.slice
    elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and _is_namespace(part.func.value):
        yield from (keyword.arg for keyword in part.keywords if keyword.arg)
        name = part.args[0] if part.args else None
    else:
        return
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        yield name.value


def _is_namespace(node: ast.expr) -> bool:
    return called(node) in NAMESPACES and not node.args


def _changed(part: ast.AST) -> Iterator[str]:
    """The names whose value one part of a statement changes: by `x[...] =`, `x.a =`, `del x[...]`, `x.method()`, `@x.method`."""
    if isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
        yield from root(part)
    elif isinstance(part, ASSIGNMENTS) and isinstance(part.value, ast.Call):
        if isinstance(part.value.func, ast.Attribute):
            yield from root(part.value.func)
    elif isinstance(part, DEFINITIONS):
        for decorator in part.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            yield from root(called) if isinstance(called, ast.Attribute) else ()


def root(node: ast.expr) -> Iterator[str]:
    """`x` of `x.a[0].b`."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id


def imported(node: ast.AST) -> Iterator[str]:
    """Imports of the project anywhere in a node: a module, or "module.name" for what is taken from one."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names if _of_project(alias.name))
        elif isinstance(part, ast.ImportFrom) and part.level == 0 and _of_project(part.module or ""):
            yield from (f"{part.module}.{alias.name}" for alias in part.names)


def _of_project(module: str) -> bool:
    return module == PROJECT or module.startswith(f"{PROJECT}.")


def _holds_exercise(node: ast.stmt, tree: Tree) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    return any(line.strip() == BEGIN for line in tree.lines[node.lineno - 1 : node.end_lineno])
