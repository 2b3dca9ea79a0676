"""The lines of a function that only show something: left out where they need a name that its program lacks.

A line only shows something if it makes no value, or one that nothing else reads. Of a program that lacks `show`:

    the function                    what is kept of it
    def cube(x):                    def cube(x):
        y = x * x                       y = x * x
        if DEBUG:                       if DEBUG:
            show(y)                         pass
        table = show(y)
        assert table is not None
        return x * y                    return x * y
"""

import ast
from collections.abc import Callable, Iterable, Iterator

from checker.reading.syntax.scopes import DEFINITIONS, IMPORTS, bound
from checker.reading.syntax.statements import imported, one_by_one, root

SIMPLE = (ast.Expr, ast.Assert, ast.Assign, ast.AnnAssign, ast.AugAssign)
BLOCKS = (ast.If, ast.For, ast.While, ast.With)  # nothing is left of one whose lines do nothing
GIVING = (ast.Yield, ast.YieldFrom, ast.Await)
LONGEST = 60  # characters of a line that is named


def without_showing(source: str, lacking: Iterable[str], find_forbidden: Callable) -> tuple[ast.stmt, list[str]]:
    """Return a function or class without the lines that only show, and the beginnings of these lines.

    lacking: names that the program lacks.    find_forbidden: returns those of some imported names that are not allowed.

    Raises:
        SyntaxError, ValueError, RecursionError: the source cannot be read.
    """
    for with_values in (True, False):
        node = ast.parse(source).body[0]
        showing = _Showing(set(lacking), find_forbidden, with_values, _own_names(node))
        if isinstance(node, DEFINITIONS):
            node.body = showing.kept(node.body)
        if not showing.mentions(ast.walk(node)):
            break  # else a value that was left out is read: only lines that make none can be left out
    return ast.fix_missing_locations(node), showing.left_out


def made_global(function: ast.stmt) -> set[str]:
    """The names of the notebook that a function makes, by `global`."""
    parts = list(ast.walk(function))
    declared = {name for part in parts if isinstance(part, ast.Global) for name in part.names}
    return declared.intersection(name for part in parts for name in bound(part))


class _Showing:
    """A walk through a function, line by line.

    lacking: names that are lacking, and that lines make which were left out.
    with_values: whether lines that make a value are left out as well.
    own: the function's own variables.
    """

    def __init__(self, lacking: set[str], find_forbidden: Callable, with_values: bool, own: frozenset[str]):
        self.lacking = lacking
        self.own = own
        self.find_forbidden = find_forbidden
        self.with_values = with_values
        self.left_out: list[str] = []

    def mentions(self, parts: Iterable[ast.AST]) -> bool:
        """True if one of the parts is a name that is lacking."""
        return any(isinstance(part, ast.Name) and part.id in self.lacking for part in parts)

    def kept(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements without those that only show; `pass` where none is left."""
        return [statement for statement in statements if self._is_kept(statement)] or [ast.Pass()]

    def _is_kept(self, statement: ast.stmt) -> bool:
        if isinstance(statement, IMPORTS):
            return self._is_import_kept(statement)
        shows = isinstance(statement, SIMPLE + BLOCKS) and self._shows(list(_head(statement)))
        inner = []
        for node, field in _blocks(statement):
            setattr(node, field, self.kept(getattr(node, field)))
            inner += getattr(node, field)
        if not shows or not all(map(_prints, inner)):
            return True
        self.left_out.append(_beginning(statement))
        return False

    def _shows(self, head: list[ast.AST]) -> bool:
        """True for a line that needs what is lacking and that makes nothing but names, which are lacking from now on."""
        names = {part.id for part in head if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        names |= set(_asked_to_change(head[0])) & self.own - self.lacking
        if any(isinstance(part, GIVING) or _changes_an_object(part) for part in head):
            return False
        if not self.mentions(head) or (names and not self.with_values):
            return False
        self.lacking |= names
        return True

    def _is_import_kept(self, statement: ast.Import | ast.ImportFrom) -> bool:
        """Leave out what is not allowed of an import; True if something is left of it."""
        allowed = []
        for one in one_by_one(statement):
            if self.find_forbidden(frozenset(imported(one))):
                self.lacking |= set(bound(one))
            else:
                allowed += one.names
        statement.names = allowed
        return bool(allowed)


def _blocks(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """(node, field) of each list of statements within a statement."""
    for node in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                yield node, field


def _head(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that stand in no statement within it."""
    for part in ast.iter_child_nodes(statement):
        if not isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from ast.walk(part)


def _own_names(function: ast.stmt) -> frozenset[str]:
    """The arguments and variables of a function."""
    arguments = {part.arg for part in ast.walk(function) if isinstance(part, ast.arg)}
    return frozenset(arguments.union(*map(bound, ast.walk(function))))


def _asked_to_change(part: ast.AST) -> Iterator[str]:
    """`x` of the line `x.append(1)`: a method may change what it is called of."""
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
        yield from root(part.func)


def _changes_an_object(part: ast.AST) -> bool:
    return isinstance(part, (ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store)


def _prints(statement: ast.stmt) -> bool:
    """True for a statement that does nothing but print."""
    call = getattr(statement, "value", None)
    prints = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"
    return isinstance(statement, ast.Pass) or isinstance(statement, ast.Expr) and prints


def _beginning(statement: ast.stmt) -> str:
    line = ast.unparse(statement).partition("\n")[0]
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 3]}..."
