"""All code of a notebook, and the questions about it that rules ask.

`Code.resolve` follows a name to the one expression that it stands for. `flow.py` goes the other way and follows a value
to all that is made of it. Both are local to a function, and both give up rather than guess.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from checker.reading.notebook import Notebook
from checker.reading.options import is_left_out
from checker.reading.syntax.bindings import ADDING, STATEMENTS, Binding, bound
from checker.reading.syntax.expressions import FUNCTIONS, argument, called, is_empty, parameters, plain_name, same
from checker.reading.syntax.trees import Tree, read_trees

FAR = 4  # steps from one name to the next that are followed


class Place(NamedTuple):
    """The place of a statement: the number of its tree among the notebook's, and the line on which it begins."""

    tree: int
    line: int


class Variable(NamedTuple):
    """A name, and the function in which it is bound; None for one that is bound outside of all functions."""

    scope: ast.AST | None
    name: str


@dataclass
class Code:
    """All code cells of a notebook. The answer to each question about them is worked out once."""

    trees: list[Tree] = field(default_factory=list)
    _scopes: dict[ast.AST, ast.AST | None] = field(default_factory=dict)
    _in_force: dict[ast.Name, Binding | None] = field(default_factory=dict)

    # The nodes, and where they stand.

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
        return {tree.module: number for number, tree in enumerate(self.trees)}

    def children(self, node: ast.AST) -> list[ast.AST]:
        """The nodes directly in a node."""
        return self._children.get(node, [])

    def inside(self, node: ast.AST) -> list[ast.AST]:
        """A node and everything in it; `ast.walk`, several times faster."""
        found = [node]
        for part in found:
            found.extend(self._children.get(part, ()))
        return found

    def walk(self, *kinds: type) -> Iterator[tuple[int, ast.AST]]:
        """Every node of these kinds with its cell's number."""
        return (pair for kind in kinds for pair in self._nodes.get(kind, ()))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that directly holds this one; None for a module."""
        return self._parents.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that hold this one, from the inside out."""
        while (node := self.parent(node)) is not None:
            yield node

    def within(self, node: ast.AST, *kinds: type) -> ast.AST | None:
        """The nearest of these kinds around the node."""
        return next((parent for parent in self.parents(node) if isinstance(parent, kinds)), None)

    def scope(self, node: ast.AST) -> ast.AST | None:
        """The function that the node stands in; None outside of all, whatever the cell."""
        if node not in self._scopes:
            parent = self.parent(node)
            found = parent is None or isinstance(parent, FUNCTIONS)
            self._scopes[node] = parent if found else self.scope(parent)
        return self._scopes[node]

    def place(self, node: ast.AST) -> Place:
        """The place of the statement that the node stands in."""
        around = [node, *self.parents(node)]
        statement = next(part for part in around if isinstance(part, (ast.stmt, ast.Module)))
        return Place(self._tree_of[around[-1]], getattr(statement, "lineno", 0))

    # Functions and calls.

    def calls(self, *wanted: str) -> Iterator[tuple[int, ast.Call]]:
        """Every call of a function or method with one of these names, with its cell's number, in the notebook's order."""
        numbers = sorted(number for name in wanted for number in self._calls_by_name.get(name, ()))
        every_call = self._nodes.get(ast.Call, [])
        return (every_call[number] for number in numbers)

    @cached_property
    def _calls_by_name(self) -> dict[str, list[int]]:
        """The calls by the last name of what they call; a call is its number among all calls."""
        found: dict[str, list[int]] = {}
        for number, (_, node) in enumerate(self.walk(ast.Call)):
            found.setdefault(called(node), []).append(number)
        return found

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """The notebook's own functions by name; of two with one name, the later."""
        return {node.name: node for _, node in self.walk(ast.FunctionDef)}

    def procedure(self, call: ast.Call) -> ast.FunctionDef | None:
        """The notebook's own function that `f(x)` or `self.f(x)` calls."""
        is_of_self = isinstance(call.func, ast.Attribute) and plain_name(call.func.value) == "self"
        return self.functions.get(called(call) if is_of_self else plain_name(call.func))

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
    def returned(self) -> dict[str, list[ast.expr]]:
        """The values that each of the notebook's own functions returns, by the function's name."""
        found: dict[str, list[ast.expr]] = {}
        for _, node in self.walk(ast.Return):
            function = self.scope(node)
            if node.value is not None and isinstance(function, ast.FunctionDef):
                found.setdefault(function.name, []).append(node.value)
        return found

    # Names and their values.

    @cached_property
    def bindings(self) -> dict[Variable, list[Binding]]:
        """Everything that each variable is bound to."""
        found: dict[Variable, list[Binding]] = {}
        for _, node in chain(self.walk(*STATEMENTS), self.calls(*ADDING)):
            for binding in bound(node):
                found.setdefault(Variable(self.scope(node), binding.name), []).append(binding)
        return found

    def values(self, name: str) -> list[ast.expr]:
        """Everything that a name is assigned, in any scope."""
        return [b.value for variable, group in self.bindings.items() if variable.name == name for b in group]

    def variable(self, name: ast.Name) -> Variable:
        """The variable that a name means where it is used: one of its function, or one outside of all functions."""
        scope = self.scope(name)
        outside = Variable(None, name.id)
        own = Variable(scope, name.id)
        if outside not in self.bindings or own in self.bindings or name.id in parameters(scope):
            return own
        return outside

    def visible(self, name: ast.Name) -> list[Binding]:
        """The bindings of a name in its function, else those outside of all; none for a parameter."""
        return self.bindings.get(self.variable(name), [])

    def resolve(self, node: ast.expr) -> ast.expr:
        """The expression that a name stands for where it is used; the node itself where it may be more than one.

        A name that stands for another name is followed in turn, `FAR` times at most.
        """
        for _ in range(FAR):
            candidates = self._nearest_before(node) if isinstance(node, ast.Name) else []
            if not candidates or not all(b.plain and same(b.value, candidates[0].value) for b in candidates):
                break
            node = candidates[0].value
        return node

    def _nearest_before(self, name: ast.Name) -> list[Binding]:
        """The bindings of a name that stand before it, those of the nearest cell that has any."""
        here = self.place(name)
        before = [b for b in self.visible(name) if self.place(b.statement) < here]
        nearest = max((self.place(b.statement).tree for b in before), default=-1)
        return [b for b in before if self.place(b.statement).tree == nearest]

    @cached_property
    def given(self) -> dict[Variable, list[ast.expr]]:
        """All values that each variable gets: those it is bound to and, for a parameter, those that calls pass.

        Empty lists and None are left out: they are places for a value. A parameter is left out where some call may
        pass a value that cannot be seen, `f(*batch)` for instance.
        """
        found = {
            variable: [b.value for b in group if not is_empty(b.value)] for variable, group in self.bindings.items()
        }
        for function in self.functions.values():
            calls = [call for _, call in self.calls(function.name)]
            some_unseen = any(self.procedure(call) is not function for call in calls)
            for name in parameters(function):
                parameter = Variable(function, name)
                passed = [argument(call, function, name) for call in calls]
                if some_unseen or not passed or None in passed:
                    found.pop(parameter, None)
                else:
                    found[parameter] = found.get(parameter, []) + passed
        return {variable: values for variable, values in found.items() if values}

    def binding_in_force(self, name: ast.Name) -> Binding | None:
        """The binding in force where a name that is bound more than once is read.

        None where that depends on the branches taken.
        """
        if name not in self._in_force:
            self._in_force[name] = self._find_in_force(name)
        return self._in_force[name]

    def _find_in_force(self, name: ast.Name) -> Binding | None:
        bindings = self.visible(name)
        if len(bindings) < 2:
            return None
        here = self.place(name)
        before = [b for b in bindings if self.place(b.statement) < here]
        last = max(before, key=lambda b: self.place(b.statement), default=None)
        if last is None or not last.plain or not self._always_runs_before(last.statement, name):
            return None
        return last

    def _always_runs_before(self, statement: ast.AST, node: ast.AST) -> bool:
        """True if a statement above a node runs whenever the node does.

        So it is where the node, or something around it, stands in the same list of statements: an assignment above an
        `if` runs whenever what is in the `if` does, and not the other way round.
        """
        around = [node, *self.parents(node)]
        holder = self.parent(statement)
        if holder not in around:
            return False
        in_holder = around[around.index(holder) - 1]
        lists = [getattr(holder, name, []) for name in ("body", "orelse", "finalbody")]
        return any(statement in body and in_holder in body for body in lists)


def read_code(notebook: Notebook) -> Code:
    """The code of a notebook that runs with it; a cell that is not to be run has no findings."""
    left_out = {cell.number for cell in notebook.code_cells if is_left_out(cell)}
    return Code([tree for tree in read_trees(notebook) if tree.cell not in left_out])
