"""The mutants of a file: one small change each, made by mutmut's operators and two of our own.

mutmut itself is not run, only its operators are used. It keeps all mutants of a file side by side as functions behind
one name, which cannot be done to a decorated function, a property, a dataclass's fields or a module's constants: it
leaves them out. With that PPO's `collect` (under `torch.no_grad`) and the default of every setting would have no mutant.
Here a mutant is the whole file with one change, and is imported in place of the file.

Left out, as in mutmut: annotations, types, decorators, docstrings, the arguments of `len` and `isinstance`, and default
values that are expressions. Left out beside: the texts inside a `raise`, for a sentence's wording is not behaviour. That
it is raised, when, and what is put into its f-strings is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

TYPE_ALIAS = m.Assign(value=m.Subscript(value=m.Name("Literal") | m.Name("Callable") | m.Name("dict")))
# Statements that stay where they are: a docstring or an ellipsis, imports, definitions, what a function declares.
FIXED = m.FunctionDef() | m.ClassDef()
FIXED |= m.SimpleStatementLine([m.Expr(m.SimpleString() | m.ConcatenatedString() | m.Ellipsis())])
FIXED |= m.SimpleStatementLine(
    [m.Import() | m.ImportFrom() | m.Pass() | m.Global() | m.Nonlocal() | m.AnnAssign(value=None)]
)
ASSIGNMENT = m.SimpleStatementLine([m.Assign() | m.AnnAssign()])
LEAVING = m.SimpleStatementLine([m.Return() | m.Raise() | m.Continue() | m.Break()])
SIMPLE = (cst.Name, cst.BaseNumber, cst.BaseString)


@dataclass(frozen=True)
class Mutant:
    """A changed file. `where` is the function it is in and `lines` its lines, none outside of functions."""

    where: str
    lines: range
    was: str
    becomes: str
    source: str

    def __str__(self) -> str:
        return f"{self.where}: {self.was}  ->  {self.becomes}"


class Changes(cst.CSTVisitor):
    """Collects (where, lines, node, changed node) of a file."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self):
        self.changes: list[tuple[str, range, cst.CSTNode, cst.CSTNode]] = []
        self.names: list[str] = []
        self.functions = [range(0)]
        self.raises = 0

    def on_visit(self, node: cst.CSTNode) -> bool:
        if is_left_out(node):
            return False
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            self.names.append(node.name.value)
        if isinstance(node, cst.FunctionDef):
            body = self.get_metadata(PositionProvider, node.body)
            self.functions.append(range(body.start.line, body.end.line + 1))
        self.raises += isinstance(node, cst.Raise)
        if not (self.raises and isinstance(node, cst.BaseString)):
            self.collect(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if isinstance(original_node, (cst.FunctionDef, cst.ClassDef)):
            self.names.pop()
        if isinstance(original_node, cst.FunctionDef):
            self.functions.pop()
        self.raises -= isinstance(original_node, cst.Raise)

    def collect(self, node: cst.CSTNode) -> None:
        for kind, operator in mutation_operators:
            if not isinstance(node, kind):
                continue
            for changed in operator(node):
                self.changes.append((".".join(self.names), self.functions[-1], node, changed))
        if isinstance(node, cst.IndentedBlock) and self.functions[-1]:
            for changed in [*without_one(node), *with_two_swapped(node)]:
                self.changes.append((".".join(self.names), self.functions[-1], node, changed))


def is_left_out(node: cst.CSTNode) -> bool:
    """True for a node that has no mutants, neither itself nor inside it."""
    if isinstance(node, (cst.Annotation, cst.Decorator)):
        return True
    if m.matches(node, TYPE_ALIAS):
        return True
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        return node.func.value in ("len", "isinstance")
    if isinstance(node, cst.Param) and node.default:
        return not isinstance(node.default, SIMPLE)
    return False


def without_one(block: cst.IndentedBlock) -> Iterator[cst.IndentedBlock]:
    """The block without one of its statements, each in turn."""
    nothing = cst.SimpleStatementLine([cst.Pass()])
    for statement in block.body:
        names = assigned(statement)
        if not m.matches(statement, FIXED) and (not names or names & read(statement)):
            yield block.with_changes(body=[nothing if one is statement else one for one in block.body])


def with_two_swapped(block: cst.IndentedBlock) -> Iterator[cst.IndentedBlock]:
    """The block with two neighbouring statements in the other order, each pair in turn."""
    for place, (first, second) in enumerate(pairwise(block.body)):
        if any(m.matches(one, FIXED | LEAVING) for one in (first, second)):
            continue
        if assigned(first) & read(second) or all(m.matches(one, ASSIGNMENT) for one in (first, second)):
            continue
        yield block.with_changes(body=[*block.body[:place], second, first, *block.body[place + 2 :]])


def assigned(statement: cst.CSTNode) -> set[str]:
    """The names to which a statement gives values."""
    return {name.value for name in named(statement)}


def read(statement: cst.CSTNode) -> set[str]:
    """The names that a statement reads: all but those to which it gives values."""
    return {name.value for name in set(m.findall(statement, m.Name())) - named(statement)}


def named(statement: cst.CSTNode) -> set[cst.CSTNode]:
    """The places in a statement where a name gets its value."""
    targets = m.findall(statement, m.AssignTarget(m.Name() | m.Tuple()) | m.AnnAssign(m.Name()))
    return {name for one in targets for name in m.findall(one.target, m.Name())}


def mutants_of(source: str) -> Iterator[Mutant]:
    """Every mutant of a file."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    visitor = Changes()
    wrapper.visit(visitor)
    for where, lines, node, changed in visitor.changes:
        mutated = wrapper.module.deep_replace(node, changed).code
        was, becomes = difference(source, mutated)
        if was != becomes:
            yield Mutant(where, lines, was, becomes, mutated)


def difference(source: str, mutated: str) -> tuple[str, str]:
    """The lines that differ, before and after, each joined to one."""
    was = source.splitlines()
    becomes = mutated.splitlines()
    while was and becomes and was[0] == becomes[0]:
        del was[0], becomes[0]
    while was and becomes and was[-1] == becomes[-1]:
        del was[-1], becomes[-1]
    return " ".join(map(str.strip, was)), " ".join(map(str.strip, becomes))
