"""What the checks of the exercises said, read from a notebook's outputs.

A check writes a record beside the line that it prints. Where there is no record (a notebook that was run with an older
edition), the line tells: `✓ per-token KL: right on 2 probes.`
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from checker.convert import plain
from checker.notebook import CHECK_RECORD, Cell, Notebook

LINE = re.compile(r"^[ \t]*(?P<mark>[✓✗])[ \t]*(?P<exercise>[^:\n]{1,80}):[ \t]*(?P<said>.*)$", re.MULTILINE)
LONGEST = 300  # characters of what a check said that are kept


@dataclass(frozen=True)
class Verdict:
    """One check of one exercise.

    exercise: its name.    passed: whether it is right.    said: what was said about it, in one line.
    cell: the number of the cell under which it stands.
    """

    exercise: str
    passed: bool
    said: str
    cell: int

    @property
    def line(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.exercise}: {self.said}"


def verdicts(notebook: Notebook) -> list[Verdict]:
    """Every verdict that the outputs hold, in the file's order."""
    return [verdict for cell, _ in _asking(notebook) for verdict in _under(cell)]


def asked(notebook: Notebook) -> int:
    """How many checks there are: those that the code asks for, and in a cell more where a loop asks for more."""
    return sum(max(calls, len(list(_under(cell)))) for cell, calls in _asking(notebook))


def _asking(notebook: Notebook) -> Iterator[tuple[Cell, int]]:
    """The cells that call checks, and how many they call."""
    from checker.rules.syntax.checks import NAME, names_of  # only now: rules themselves ask for verdicts
    from checker.rules.syntax.trees import read_trees

    if not any(NAME in cell.source for cell in notebook.code_cells):
        return  # no name of the checks without this word, so nothing needs to be parsed
    trees = {tree.cell: tree for tree in read_trees(notebook)}
    names = names_of(trees.values())
    for cell in notebook.code_cells:
        tree = trees.get(cell.number)
        calls = names.lines_in(cell.source) if tree is None else sum(1 for _ in names.calls(tree))
        if calls:
            yield cell, calls


def _under(cell: Cell) -> Iterator[Verdict]:
    """The verdicts of one cell; a printed line whose exercise has a record is not counted twice."""
    printed = list(_printed(cell))
    said = {verdict.exercise: verdict.said for verdict in printed}
    recorded = list(_recorded(cell, said))
    known = {verdict.exercise for verdict in recorded}
    yield from recorded
    yield from (verdict for verdict in printed if verdict.exercise not in known)


def _recorded(cell: Cell, said: dict[str, str]) -> Iterator[Verdict]:
    for output in cell.outputs:
        record = _decoded(output.data.get(CHECK_RECORD, ""))
        if isinstance(record.get("exercise"), str) and isinstance(record.get("passed"), bool):
            exercise = record["exercise"][:80]
            yield Verdict(exercise, record["passed"], said.get(exercise) or _told(record), cell.number)


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


def _printed(cell: Cell) -> Iterator[Verdict]:
    for match in LINE.finditer(plain(cell.text_output)):
        yield Verdict(match["exercise"].strip(), match["mark"] == "✓", match["said"].strip()[:LONGEST], cell.number)
