"""The exercises of a notebook: what each is worth, where it stands, and the checks that earn it.

An exercise is earned by the `check.` calls whose function it fills in, or that use it; one without a check is the
instructor's to grade, as every written answer is.
"""

import ast
from dataclasses import dataclass, replace
from itertools import count

from checker.reading.exercises import exercises
from checker.reading.layout import heading_of, sections
from checker.reading.markers import BEGIN
from checker.reading.notebook import Notebook
from checker.reading.slicing.slices import slice_of
from checker.reading.syntax.checks import names_of
from checker.reading.syntax.statements import Definitions, definitions
from checker.reading.syntax.trees import Tree, read_trees

BEFORE = "Before Cell 1"  # the section of what stands above the first label


@dataclass(frozen=True)
class Check:
    """A `check.` call: `check.rows(make_rows)` has the name "rows" and the function "make_rows".

    beside: further functions of the notebook that it is handed, as a reward's cases are.
    """

    name: str
    function: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One exercise.

    key: as `checker.reading.exercises` has it, "cell-05/2".       function: the one at top level that holds it, "" for none.
    wanted: what it asks.   points: what it is worth.   section: where it stands, "Cell 5: One GRPO step".
    checks: those that earn it; none for one that the instructor grades.   field: what the form calls it then.
    written: whether it is answered in words.
    """

    key: str
    function: str
    wanted: str
    points: float
    section: str
    checks: tuple[Check, ...] = ()
    field: str = ""
    written: bool = False

    @property
    def name(self) -> str:
        """The name that a person, and a column of the table, calls it by."""
        return self.function or self.wanted or self.key


def items_of(notebook: Notebook, content: dict) -> tuple[Item, ...]:
    """The items of a notebook that earn points, in its order; no two have the same field."""
    checks = _checks(notebook, definitions(notebook))
    trees = {tree.cell: tree for tree in read_trees(notebook)}
    headings = _headings(notebook)
    found: list[Item] = []
    for number, cell in enumerate(content["cells"]):
        for position, exercise in enumerate(exercises([cell]), 1):
            function = "" if exercise.written else _function_around(trees.get(number), position)
            earned_by = tuple(check for check, uses in checks if function in uses)
            item = Item(
                exercise.key,
                function,
                exercise.what,
                exercise.points,
                headings[number],
                earned_by,
                written=exercise.written,
            )
            kind = "Question" if exercise.written else "Exercise"
            found.append(replace(item, field=_another(f"{kind}: {item.name}", {one.field for one in found})))
    return tuple(found)


def _another(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if name not in taken else next(other for other in numbered if other not in taken)


def _checks(notebook: Notebook, known: Definitions) -> list[tuple[Check, frozenset[str]]]:
    """Each `check.` call with a function of the notebook, and the exercises that it is about.

    A check of an exercise is about this one alone, whatever it calls; a check of anything else, such as a function that
    prepares arguments, about the exercises that it calls.
    """
    found = []
    trees = read_trees(notebook)
    names = names_of(trees)
    for call, name in (pair for tree in trees for pair in names.calls(tree)):
        handed = [part.id for part in call.args if isinstance(part, ast.Name) and known.bound(part.id)]
        if handed:
            check = Check(name, handed[0], tuple(handed[1:]))
            found.append((check, _about(check.function, known)))
    return found


def _about(function: str, known: Definitions) -> frozenset[str]:
    if function in known.filled:
        return frozenset({function})
    return slice_of(function, known, known).names & known.filled


def _function_around(tree: Tree | None, position: int) -> str:
    """The function at top level that holds the exercise at this position in a cell, from 1; "" for none."""
    if tree is None:
        return ""
    begins = [number for number, line in enumerate(tree.lines, 1) if line.strip() == BEGIN]
    if position > len(begins):
        return ""
    line = begins[position - 1]
    for node in tree.module.body:
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= node.end_lineno:
            return node.name
    return ""


def _headings(notebook: Notebook) -> dict[int, str]:
    """Each cell's section, by the cell's number."""
    named = {}
    for cells in sections(notebook).values():
        for cell in cells:
            named[cell.number] = heading_of(cells[0]) or BEFORE
    return named
