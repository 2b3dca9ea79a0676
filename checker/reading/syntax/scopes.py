"""The names that statements bind and read, told from their syntax tree alone: the same in every version of Python.

`symtable` and bytecode cannot tell them. Since Python 3.12 (PEP 709) both count a comprehension to the function around it.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checker.reading.syntax.expressions import FUNCTIONS, direct_parts, parameters

IMPORTS = (ast.Import, ast.ImportFrom)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def names_read(statements: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that statements read, in functions inside them too; the variables of these functions are none.

    A name that a function declares to be global is one, since `name += 1` reads it too. What nobody evaluates reads
    nothing: an annotation, and what a `type` statement stands for.
    """
    top = _Scope(frozenset(), frozenset())
    return frozenset(name for statement in statements for name in top.read(statement))


def running(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and their parts that run where these stand: not what is in functions, nor a comprehension's variables."""
    waiting = list(nodes)
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, ast.comprehension):
            waiting += [part.iter, *part.ifs]
        elif isinstance(part, (*FUNCTIONS, ast.ClassDef)):
            waiting += _run_before(part)
        else:
            waiting += direct_parts(part)


def bound(part: ast.AST) -> Iterator[str]:
    """The names that one part of a statement binds itself."""
    if isinstance(part, DEFINITIONS):
        yield part.name
    elif isinstance(part, IMPORTS):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in part.names)
    elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
        yield part.id
    elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
        yield part.name
    elif isinstance(part, ast.MatchMapping) and part.rest:
        yield part.rest


@dataclass(frozen=True)
class _Scope:
    """A function, a class, a comprehension, or the notebook around them all.

    own: the names that mean a variable of this scope, or of a function around it.
    passed_on: those of them that mean the same in functions inside: a class keeps its own to itself.
    """

    own: frozenset[str]
    passed_on: frozenset[str]

    def read(self, node: ast.AST) -> Iterator[str]:
        """The names that a node of this scope reads, but for the variables of functions."""
        if isinstance(node, ast.Name):
            yield from {node.id} - self.own if isinstance(node.ctx, ast.Load) else ()
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from set(node.names) - self.own
        elif isinstance(node, COMPREHENSIONS):
            yield from self._read_in_comprehension(node)
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield from self._with(_type_parameters(node)).read_all(_run_before(node))
            yield from self._within(node).read_all(_body(node))
        else:
            yield from self.read_all(_evaluated(node))

    def read_all(self, nodes: Iterable[ast.AST]) -> Iterator[str]:
        return (name for node in nodes for name in self.read(node))

    def _read_in_comprehension(self, node: ast.AST) -> Iterator[str]:
        """Read the first iterable in the scope around the comprehension, and all else in its own."""
        first = node.generators[0].iter
        variables = {name for one in node.generators for part in running([one.target]) for name in bound(part)}
        parts = [part for one in node.generators for part in direct_parts(one)]
        parts += [part for part in direct_parts(node) if not isinstance(part, ast.comprehension)]
        yield from self.read(first)
        inside = _Scope(self.passed_on, self.passed_on)._with(variables)
        yield from inside.read_all(part for part in parts if part is not first)

    def _with(self, names: set[str]) -> "_Scope":
        return _Scope(self.own | names, self.passed_on | names)

    def _within(self, node: ast.AST) -> "_Scope":
        """The scope of a function or a class that stands in this one."""
        inside = list(running(_body(node)))
        of_notebook = {name for part in inside if isinstance(part, ast.Global) for name in part.names}
        of_around = {name for part in inside if isinstance(part, ast.Nonlocal) for name in part.names}
        variables = {name for part in inside for name in bound(part)} - of_around
        around = (self.passed_on | _type_parameters(node)) - of_notebook
        if isinstance(node, ast.ClassDef):
            return _Scope(around | variables - of_notebook, around)
        return _Scope(around, around)._with((variables | parameters(node)) - of_notebook)


def _body(node: ast.AST) -> list[ast.AST]:
    return node.body if isinstance(node.body, list) else [node.body]


def _type_parameters(node: ast.AST) -> set[str]:
    """T of `def f[T](x: T)`, from Python 3.12 on."""
    return {parameter.name for parameter in getattr(node, "type_params", [])}


def _run_before(node: ast.AST) -> list[ast.AST]:
    """The parts of a function or a class that run where it is defined."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    defaults = [*node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)]
    return [*getattr(node, "decorator_list", []), *defaults]


def _evaluated(node: ast.AST) -> list[ast.AST]:
    """The nodes directly in a node but for an annotation, and for all of a `type` statement."""
    if type(node).__name__ == "TypeAlias":  # from Python 3.12 on
        return []
    return [part for part in direct_parts(node) if part is not getattr(node, "annotation", None)]
