"""The results of the exercises' checks, read from a notebook's outputs.

A check writes a record beside the line that it prints. Where there is no record (a notebook that was run with an older
edition), the line tells: `✓ per-token KL: right on 2 probes.`
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from checker.reading.convert import plain
from checker.reading.notebook import CHECK_RECORD, Cell, Notebook
from checker.reading.syntax.checks import NAME, names_of
from checker.reading.syntax.trees import read_trees

LINE = re.compile(r"^[ \t]*(?P<mark>[✓✗○])[ \t]*(?P<exercise>[^:\n]{1,80}):[ \t]*(?P<said>.*)$", re.MULTILINE)
BLANK = "it is not filled in yet"  # what a check says then
LONGEST = 300  # characters of what a check said that are kept


@dataclass(frozen=True)
class CheckResult:
    """One check of one exercise.

    exercise: its name.    passed: whether it is right.    said: what was said about it, in one line.
    cell: the number of the cell under which it stands.
    """

    exercise: str
    passed: bool
    said: str
    cell: int

    @property
    def blank(self) -> bool:
        """True if the exercise is not filled in."""
        return not self.passed and self.said.startswith(BLANK)

    @property
    def line(self) -> str:
        return f"{'✓' if self.passed else '○' if self.blank else '✗'} {self.exercise}: {self.said}"


def check_results(notebook: Notebook) -> list[CheckResult]:
    """Every result that the outputs hold, in the file's order."""
    return [result for cell, _ in _asking(notebook) for result in _under(cell)]


def asked(notebook: Notebook) -> int:
    """The number of checks: those in the code of a cell, or those in its output where a loop made more."""
    return sum(max(calls, len(list(_under(cell)))) for cell, calls in _asking(notebook))


def _asking(notebook: Notebook) -> Iterator[tuple[Cell, int]]:
    """The cells that call checks, and how many they call."""
    if not any(NAME in cell.source for cell in notebook.code_cells):
        return  # no name of the checks without this word, so nothing needs to be parsed
    trees = {tree.cell: tree for tree in read_trees(notebook)}
    names = names_of(trees.values())
    for cell in notebook.code_cells:
        tree = trees.get(cell.number)
        calls = names.lines_in(cell.source) if tree is None else sum(1 for _ in names.calls(tree))
        if calls:
            yield cell, calls


def _under(cell: Cell) -> Iterator[CheckResult]:
    """The results of one cell; a printed line whose exercise has a record is not counted twice."""
    printed = list(_printed(cell))
    said = {result.exercise: result.said for result in printed}
    recorded = list(_recorded(cell, said))
    known = {result.exercise for result in recorded}
    yield from recorded
    yield from (result for result in printed if result.exercise not in known)


def _recorded(cell: Cell, said: dict[str, str]) -> Iterator[CheckResult]:
    for output in cell.outputs:
        record = _decoded(output.data.get(CHECK_RECORD, ""))
        if isinstance(record.get("exercise"), str) and isinstance(record.get("passed"), bool):
            exercise = record["exercise"][:80]
            yield CheckResult(exercise, record["passed"], said.get(exercise) or _told(record), cell.number)


def _decoded(text: str) -> dict:
    """The record in an output; {} where there is none, or where somebody wrote something else there."""
    try:
        record = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _told(record: dict) -> str:
    """A sentence for a record whose printed line is gone."""
    slips = [str(slip) for slip in record.get("slips") or [] if isinstance(slip, (str, int))]
    sentence = "right." if record["passed"] else f"not right yet{': ' if slips else '.'}{', '.join(slips)}"
    return sentence[:LONGEST]


def _printed(cell: Cell) -> Iterator[CheckResult]:
    for match in LINE.finditer(plain(cell.text_output)):
        yield CheckResult(match["exercise"].strip(), match["mark"] == "✓", match["said"].strip()[:LONGEST], cell.number)
