"""The code of a notebook as syntax trees, for the method rules.

Nothing is executed. Lines of IPython magic are blanked so that line numbers stay; a cell that is not valid
Python is skipped, because the student's kernel has said so already.

`Code.resolve` follows a name to the one expression it stands for, and `Code.flow` follows what is made of an
expression (through assignments, loops, comprehensions, `append` and the notebook's own functions). Both are
local to a function and both give up rather than guess.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from checker.notebook import Notebook

MAGIC = re.compile(r"^\s*+(?:[%!?]|[\w.\[\]]++\?{1,2}\s*$|[\w, ]++=\s*[%!])")
TIMED = re.compile(r"\A\s*%%(?:time|timeit|capture)\b")  # cell magics under which there is Python
MAX_CODE = 200_000  # characters of one cell; what is longer is data, not code
MAX_ALL_CODE = 2_000_000  # characters of all cells that are read
MAX_DEPTH = 150  # nested expressions; deeper code is generated, and rules recurse
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Tree:
    """The syntax tree of one code cell: its lines, and what stands directly in each node, outermost first."""

    cell: int
    module: ast.Module
    lines: tuple[str, ...]
    children: dict[ast.AST, list[ast.AST]]


@dataclass(frozen=True)
class Binding:
    """A name gets a value: by assignment, by a loop over it (`plain` is then False), or by appending it."""

    name: str
    value: ast.expr
    statement: ast.AST
    plain: bool


@dataclass
class Code:
    """All code cells of a notebook, with what rules ask about them worked out once."""

    trees: list[Tree] = field(default_factory=list)
    _scopes: dict[ast.AST, ast.AST | None] = field(default_factory=dict)

    @cached_property
    def _nodes(self) -> dict[type, list[tuple[int, ast.AST]]]:
        """Every node by its type, with its cell's number."""
        found: dict[type, list[tuple[int, ast.AST]]] = {}
        for tree in self.trees:
            for node in tree.children:
                found.setdefault(type(node), []).append((tree.cell, node))
        return found

    @cached_property
    def _children(self) -> dict[ast.AST, list[ast.AST]]:
        return {node: children for tree in self.trees for node, children in tree.children.items()}

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node, children in self._children.items() for child in children}

    @cached_property
    def _tree_of(self) -> dict[ast.AST, int]:
        return {tree.module: index for index, tree in enumerate(self.trees)}

    def inside(self, node: ast.AST) -> list[ast.AST]:
        """A node and everything in it; `ast.walk`, several times faster."""
        found = [node]
        for part in found:
            found.extend(self._children.get(part, ()))
        return found

    def walk(self, *kinds: type) -> Iterator[tuple[int, ast.AST]]:
        """Every node of these kinds with its cell's number."""
        return (pair for kind in kinds for pair in self._nodes.get(kind, ()))

    def calls(self, *wanted: str) -> Iterator[tuple[int, ast.Call]]:
        """Every call of a function or method with one of these names."""
        found = (call for name in wanted for call in self._calls.get(name, ()))
        return ((cell, node) for _, cell, node in sorted(found, key=lambda call: call[0]))

    @cached_property
    def _calls(self) -> dict[str, list[tuple[int, int, ast.Call]]]:
        """Every call by the last name of what it calls: (its place among all calls, its cell's number, the
        call).
        """
        found: dict[str, list[tuple[int, int, ast.Call]]] = {}
        for place, (cell, node) in enumerate(self.walk(ast.Call)):
            found.setdefault(called(node), []).append((place, cell, node))
        return found

    def parent(self, node: ast.AST) -> ast.AST | None:
        """What the node stands in directly."""
        return self._parents.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """What the node stands in, from the inside out."""
        while (node := self.parent(node)) is not None:
            yield node

    def within(self, node: ast.AST, *kinds: type) -> ast.AST | None:
        """The nearest of these kinds around the node."""
        return next((parent for parent in self.parents(node) if isinstance(parent, kinds)), None)

    def scope(self, node: ast.AST) -> ast.AST | None:
        """The function that the node stands in; None outside of all, whatever the cell."""
        if node not in self._scopes:
            parent = self.parent(node)
            inside = parent is None or isinstance(parent, FUNCTIONS)
            self._scopes[node] = parent if inside else self.scope(parent)
        return self._scopes[node]

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Where the statement of a node begins: (which tree, line)."""
        chain = [node, *self.parents(node)]
        statement = next(part for part in chain if isinstance(part, (ast.stmt, ast.Module)))
        return self._tree_of[chain[-1]], getattr(statement, "lineno", 0)

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The notebook's own functions by name; of two with one name, the later."""
        return {node.name: node for _, node in self.walk(ast.FunctionDef)}

    @cached_property
    def bindings(self) -> dict[tuple[ast.AST | None, str], list[Binding]]:
        """By scope and name, everything that a name is bound to."""
        found: dict[tuple[ast.AST | None, str], list[Binding]] = {}
        kinds = (
            ast.Assign,
            ast.AnnAssign,
            ast.AugAssign,
            ast.NamedExpr,
            ast.For,
            ast.comprehension,
            ast.Call,
        )
        for _, node in self.walk(*kinds):
            for name, value, plain in _bound(node):
                scope = self.scope(node)
                found.setdefault((scope, name), []).append(Binding(name, value, node, plain))
        return found

    def values(self, name: str) -> list[ast.expr]:
        """Everything that a name is assigned, in any scope."""
        return [b.value for (_, bound), group in self.bindings.items() if bound == name for b in group]

    def _visible(self, name: ast.Name) -> list[Binding]:
        """The bindings of a name in its function, else those outside of all; none for a parameter."""
        return self.bindings.get(self._key(name), [])

    def resolve(self, node: ast.expr, depth: int = 4) -> ast.expr:
        """What a name stands for where it is used, when that is one expression; else the node itself."""
        while depth and isinstance(node, ast.Name):
            here = self.place(node)
            before = [b for b in self._visible(node) if self.place(b.statement) < here]
            nearest = max((self.place(b.statement)[0] for b in before), default=-1)
            last = [b for b in before if self.place(b.statement)[0] == nearest]
            if not last or not all(b.plain and same(b.value, last[0].value) for b in last):
                return node
            node, depth = last[0].value, depth - 1
        return node

    def flow(
        self, origin: Callable[[ast.AST], bool], stop: Callable[[ast.AST], bool]
    ) -> Callable[[ast.AST], bool]:
        """A test for expressions made of what `origin` recognises, and not of it only through what `stop`
        does.

        A name counts only when everything it is bound to (but empty lists and None) does.
        """
        carriers: set[tuple[ast.AST | None, str]] | None = None
        makers: set[str] = set()

        def carries(node: ast.AST) -> bool:
            nonlocal carriers
            if carriers is None:
                carriers = set()
                fill()
            waiting = [node]
            while waiting:
                part = waiting.pop()
                if origin(part) or (isinstance(part, ast.Call) and plain_name(part.func) in makers):
                    return True
                if stop(part):
                    continue
                if carriers and isinstance(part, ast.Name) and self._key(part) in carriers:
                    return True
                waiting.extend(self._children.get(part, ()))
            return False

        def fill() -> None:
            """Go over all bindings until nothing is added; a chain of more than five gives up."""
            for _ in range(5):
                size = len(carriers) + len(makers)
                for key, group in self.bindings.items():
                    filled = [b.value for b in group if not is_empty(b.value)]
                    if key not in carriers and filled and all(map(carries, filled)):
                        carriers.add(key)
                for name, returned in self._returned.items():
                    if all(not isinstance(value, ast.Tuple) and carries(value) for value in returned):
                        makers.add(name)
                if len(carriers) + len(makers) == size:
                    break

        return carries

    def _key(self, name: ast.Name) -> tuple[ast.AST | None, str]:
        """Where the bindings of a name are: in its function, or outside of all."""
        if (None, name.id) not in self.bindings:
            return self.scope(name), name.id
        scope = self.scope(name)
        own = (scope, name.id) in self.bindings or name.id in parameters(scope)
        return scope if own else None, name.id

    @cached_property
    def _returned(self) -> dict[str, list[ast.expr]]:
        """What each of the notebook's own functions returns."""
        found: dict[str, list[ast.expr]] = {}
        for _, node in self.walk(ast.Return):
            function = self.scope(node)
            if node.value is not None and isinstance(function, ast.FunctionDef):
                found.setdefault(function.name, []).append(node.value)
        return found


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr, bool]]:
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
    elif called(node) in ("append", "extend") and isinstance(node.func.value, ast.Name) and node.args:
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


def read_code(notebook: Notebook) -> Code:
    code, size = Code(), 0
    for cell in notebook.code_cells:
        source = cell.source
        size += len(source)
        if size > MAX_ALL_CODE:
            break
        if len(source) > MAX_CODE or (source.lstrip().startswith("%%") and not TIMED.match(source)):
            continue
        lines = ["" if MAGIC.match(line) else line for line in source.split("\n")]
        try:
            module = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        children = _children(module)
        if children:
            code.trees.append(Tree(cell.number, module, tuple(lines), children))
    return code


def _children(module: ast.Module) -> dict[ast.AST, list[ast.AST]]:
    """What stands directly in each node of a tree, outermost first; empty for a tree that is too deep."""
    found: dict[ast.AST, list[ast.AST]] = {}
    level: list[ast.AST] = [module]
    for _ in range(MAX_DEPTH):
        below = []
        for node in level:
            found[node] = children = _inside(node)
            below.extend(children)
        if not below:
            return found
        level = below
    return {}


def _inside(node: ast.AST) -> list[ast.AST]:
    """What stands directly in a node, but for the marks of reading and writing that every name has."""
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
    """What a call is about: x in `x.std(...)`, in `torch.std(x, ...)` and in `std(x)`; None without any."""
    function = call.func
    if isinstance(function, ast.Attribute) and plain_name(function.value) not in MODULES:
        if not (isinstance(function.value, ast.Attribute) and plain_name(function.value.value) in MODULES):
            return function.value
    return call.args[0] if call.args else keyword(call, "input")


MODULES = {"torch", "np", "numpy", "math", "F", "nn", "statistics", "jnp", "functional"}


def names(node: ast.AST) -> set[str]:
    """Every name, attribute and key in brackets that occurs in an expression: a, b, c of `a.b["c"]`."""
    found, parts = set(), [node]
    for part in parts:
        parts += _inside(part)
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
    """Whether a name in the expression matches, whatever its case."""
    return any(re.search(pattern, name, re.IGNORECASE) for name in names(node))


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


def same(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions are written alike."""
    return one is other or (type(one) is type(other) and ast.dump(one) == ast.dump(other))


def number(node: ast.AST | None) -> float | None:
    """The value of a number, with its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    ):
        return node.value
    return None


def is_empty(node: ast.expr) -> bool:
    """Whether it is None, [], {} or list(): a place to put things into, not a value."""
    return (
        (isinstance(node, ast.Constant) and node.value is None)
        or (isinstance(node, (ast.List, ast.Tuple)) and not node.elts)
        or (called(node) in ("list", "dict") and not node.args)
    )


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
