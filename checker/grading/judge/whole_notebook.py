"""A submission's whole notebook, run in a box: its outputs, and what stopped it. No points come from here."""

from dataclasses import dataclass

from checker.editions.course import NEEDED
from checker.grading.box.isolation import Outcome, run_submission
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Isolation, box
from checker.reading.layout import place_in
from checker.reading.notebook import Notebook
from checker.reading.syntax.statements import Modules

SHOWN = tuple((ROOT / name, name) for name in NEEDED)
REASONS = {
    "an error": "stopped with an error",
    "the time": "was still running when the time was up",
    "the kernel died": "ended the kernel: most often that is too much memory, or a call of exit()",
    "too much printed": "printed more than is kept",
}


@dataclass(frozen=True)
class Executed:
    """A notebook after its run.

    content: its JSON with the fresh outputs of all cells that came to an end; none where none ran.
    stopped: why it did not run to its end, as a sentence that names the cell; "" when it did.
    seconds, memory: what the box took.
    """

    content: dict
    stopped: str
    seconds: float
    memory: int


def execute(notebook: Notebook, content: dict, isolation: Isolation, limits: Limits, modules: Modules = ()) -> Executed:
    """Run a notebook in a box. Raises BoxFailed if the box failed, by no fault of the notebook.

    modules: the student's own that lie beside it.
    """
    job = {"do": "notebook", "notebook": _plain(content), "modules": modules}
    outcome = run_submission(box(isolation, SHOWN, limits), job)
    if outcome.cut_short:  # by the notebook, as far as was seen: it gets a second try
        outcome = run_submission(box(isolation, SHOWN, limits), job)
    cells = [dict(cell) for cell in content["cells"]]
    for cell in cells:
        if cell.get("cell_type") == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
    for record in outcome.records:
        index = record.get("cell")
        if _is_cell(index, cells) and isinstance(record.get("outputs"), list):
            cells[index]["outputs"] = record["outputs"]
            count = record.get("count")
            cells[index]["execution_count"] = count if isinstance(count, int) else None
    stopped = _stopped(outcome, notebook)
    return Executed(content | {"cells": cells}, stopped, outcome.seconds, outcome.memory)


def _plain(content: dict) -> dict:
    """The part of a file that is executed: cells of a known type with their source as text."""
    cells = []
    for cell in content["cells"]:
        kind = cell.get("cell_type")
        source = cell.get("source", "")
        plain = {"cell_type": kind if kind in ("code", "markdown") else "raw", "metadata": {}}
        plain["source"] = "".join(map(str, source)) if isinstance(source, list) else str(source)
        if kind == "code":
            plain |= {"outputs": [], "execution_count": None}
        cells.append(plain)
    return {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}


def _is_cell(index: object, cells: list[dict]) -> bool:
    """True if a value that a box sent is the number of a code cell."""
    return isinstance(index, int) and 0 <= index < len(cells) and cells[index].get("cell_type") == "code"


def _stopped(outcome: Outcome, notebook: Notebook) -> str:
    """The end that came early to a run, in a sentence; "" when it ran to its end."""
    numbers = (record.get("cell") for record in outcome.records)
    begun = [number for number in numbers if isinstance(number, int) and 0 <= number < len(notebook.cells)]
    where = place_in(notebook, begun[-1]) if begun else "The notebook"
    if outcome.stopped:
        return f"{where} was running when the box was ended: {outcome.stopped}."
    ended = next((record["ended"] for record in reversed(outcome.records) if "ended" in record), "an end of its own")
    return f"{where} {REASONS.get(str(ended), 'did not come to its end')}." if ended else ""
