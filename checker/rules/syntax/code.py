"""All code of a notebook, and what rules ask about it.

`Code.resolve` follows a name to the one expression it stands for, and `Code.flow` follows what is made of an
expression (through assignments, loops, comprehensions, `append` and the notebook's own functions). Both are
local to a function and both give up rather than guess.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from checker.notebook import Notebook
from checker.rules.syntax.bindings import ADDING, STATEMENTS, Binding, bound
from checker.rules.syntax.expressions import (
    FUNCTIONS,
    argument,
    called,
    is_empty,
    parameters,
    plain_name,
    same,
)
from checker.rules.syntax.trees import Tree, read_trees


@dataclass
class Code:
    """All code cells of a notebook, with what rules ask about them worked out once."""

    trees: list[Tree] = field(default_factory=list)
    _scopes: dict[ast.AST, ast.AST | None] = field(default_factory=dict)
    _last: dict[ast.Name, Binding | None] = field(default_factory=dict)

    @cached_property
    def _nodes(self) -> dict[type, list[tuple[int, ast.AST]]]:
        """Every node by its type, with its cell's number."""
        found: dict[type, list[tuple[int, ast.AST]]] = defaultdict(list)
        for tree in self.trees:
            for node in tree.children:
                found[type(node)].append((tree.cell, node))
        return dict(found)

    @cached_property
    def _children(self) -> dict[ast.AST, list[ast.AST]]:
        found: dict[ast.AST, list[ast.AST]] = {}
        for tree in self.trees:
            found.update(tree.children)
        return found

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

    def procedure(self, call: ast.Call) -> ast.FunctionDef | None:
        """The notebook's own function that `f(x)` or `self.f(x)` calls."""
        of_self = isinstance(call.func, ast.Attribute) and plain_name(call.func.value) == "self"
        return self.functions.get(called(call)) if of_self else self.functions.get(plain_name(call.func))

    def calls_in(self, holder: ast.AST) -> list[ast.Call]:
        """The calls that stand in a function or, outside of all functions, in a cell's module; in source order."""
        return self._calls_by_holder.get(holder, [])

    @cached_property
    def _calls_by_holder(self) -> dict[ast.AST, list[ast.Call]]:
        found: dict[ast.AST, list[ast.Call]] = {}
        for tree in self.trees:
            calls = [node for node in tree.children if isinstance(node, ast.Call)]
            for call in sorted(calls, key=lambda node: (node.end_lineno, node.end_col_offset)):
                found.setdefault(self.scope(call) or tree.module, []).append(call)
        return found

    @cached_property
    def bindings(self) -> dict[tuple[ast.AST | None, str], list[Binding]]:
        """By scope and name, everything that a name is bound to."""
        found: dict[tuple[ast.AST | None, str], list[Binding]] = {}
        for _, node in chain(self.walk(*STATEMENTS), self.calls(*ADDING)):
            for name, value, plain in bound(node):
                scope = self.scope(node)
                found.setdefault((scope, name), []).append(Binding(name, value, node, plain))
        return found

    def values(self, name: str) -> list[ast.expr]:
        """Everything that a name is assigned, in any scope."""
        return [b.value for (_, known), group in self.bindings.items() if known == name for b in group]

    def visible(self, name: ast.Name) -> list[Binding]:
        """The bindings of a name in its function, else those outside of all; none for a parameter."""
        return self.bindings.get(self.key(name), [])

    def resolve(self, node: ast.expr, depth: int = 4) -> ast.expr:
        """What a name stands for where it is used, when that is one expression; else the node itself."""
        while depth and isinstance(node, ast.Name):
            here = self.place(node)
            before = [b for b in self.visible(node) if self.place(b.statement) < here]
            nearest = max((self.place(b.statement)[0] for b in before), default=-1)
            last = [b for b in before if self.place(b.statement)[0] == nearest]
            if not last or not all(b.plain and same(b.value, last[0].value) for b in last):
                return node
            node = last[0].value
            depth -= 1
        return node

    def flow(self, origin: Callable[[ast.AST], bool], stop: Callable[[ast.AST], bool]) -> Callable[[ast.AST], bool]:
        """A test for expressions made of what `origin` recognises, and not of it only through what `stop`
        does.

        A name counts only when everything it is bound to (but empty lists and None) does, a parameter when
        everything that is passed for it does.
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
                if isinstance(part, ast.Name):
                    last = self._last_of_several(part)
                    if last is not None:
                        waiting.append(last.value)
                    elif carriers and self.key(part) in carriers:
                        return True
                if isinstance(part, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
                    waiting.append(part.elt)  # what it goes over is no part of the result
                elif not self._is_field_of_parameter(part):
                    waiting.extend(self._children.get(part, ()))
            return False

        def fill() -> None:
            """Go over all bindings until nothing is added; a chain of more than five gives up."""
            for _ in range(5):
                size = len(carriers) + len(makers)
                for key, values in self._given.items():
                    if key not in carriers and all(map(carries, values)):
                        carriers.add(key)
                for name, returned in self._returned.items():
                    if all(not isinstance(value, ast.Tuple) and carries(value) for value in returned):
                        makers.add(name)
                if len(carriers) + len(makers) == size:
                    break

        return carries

    def _is_field_of_parameter(self, node: ast.AST) -> bool:
        """Whether it is `batch.ids` of a parameter `batch`: one field of what was passed, not the whole of it."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return False
        key = self.key(node.value)
        is_method = isinstance(self.parent(node), ast.Call) and self.parent(node).func is node
        return key[1] in parameters(key[0]) and key not in self.bindings and not is_method

    def key(self, name: ast.Name) -> tuple[ast.AST | None, str]:
        """Where the bindings of a name are: in its function, or outside of all."""
        if (None, name.id) not in self.bindings:
            return self.scope(name), name.id
        scope = self.scope(name)
        own = (scope, name.id) in self.bindings or name.id in parameters(scope)
        return scope if own else None, name.id

    @cached_property
    def _given(self) -> dict[tuple[ast.AST | None, str], list[ast.expr]]:
        """By scope and name, what a name is bound to and what is passed for a parameter, empty lists and None left out.

        A parameter is left out where a call cannot be seen through.
        """
        found = {key: [b.value for b in group if not is_empty(b.value)] for key, group in self.bindings.items()}
        for function in self.functions.values():
            calls = [call for _, call in self.calls(function.name)]
            unseen = any(self.procedure(call) is not function for call in calls)
            for name in parameters(function) - {"self"}:
                passed = [argument(call, function, name) for call in calls]
                if unseen or not passed or None in passed:
                    found.pop((function, name), None)
                else:
                    found[function, name] = found.get((function, name), []) + passed
        return {key: values for key, values in found.items() if values}

    def _last_of_several(self, name: ast.Name) -> Binding | None:
        """Of a name that is bound more than once, the binding that is in force where it is read.

        None where that depends on the way taken: the last one before must stand in the same list of statements as
        the reading, or as something around it.
        """
        if name not in self._last:
            self._last[name] = self._find_last(name)
        return self._last[name]

    def _find_last(self, name: ast.Name) -> Binding | None:
        bindings = self.visible(name)
        if len(bindings) < 2:
            return None
        here = self.place(name)
        before = [(self.place(b.statement), b) for b in bindings]
        before = [pair for pair in before if pair[0] < here]
        if not before:
            return None
        last = max(before, key=lambda pair: pair[0])[1]
        if not last.plain:
            return None
        chain = [name, *self.parents(name)]
        holder = self.parent(last.statement)
        if holder not in chain:
            return None
        around = chain[chain.index(holder) - 1]
        lists = [getattr(holder, field, []) for field in ("body", "orelse", "finalbody")]
        return last if any(last.statement in body and around in body for body in lists) else None

    @cached_property
    def _returned(self) -> dict[str, list[ast.expr]]:
        """What each of the notebook's own functions returns."""
        found: dict[str, list[ast.expr]] = {}
        for _, node in self.walk(ast.Return):
            function = self.scope(node)
            if node.value is not None and isinstance(function, ast.FunctionDef):
                found.setdefault(function.name, []).append(node.value)
        return found


def read_code(notebook: Notebook) -> Code:
    return Code(read_trees(notebook))
