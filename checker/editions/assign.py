"""Blank editions from worked notebooks: solutions out, TODOs kept, outputs cleared.

What becomes of a cell is in `checker/reading/markers.py`. A blank edition carries the course's version and what its exercises
look like, so that one that somebody has filled in is told from one that may be built again.
"""

import copy
import re
from keyword import kwlist
from pathlib import Path

from checker.editions.identity import filled, identity
from checker.reading.convert import plain
from checker.reading.exercises import exercises, total
from checker.reading.files import write_beside
from checker.reading.layout import place_in
from checker.reading.markers import BEGIN, END, MarkerError, blank_code, blank_markdown, walk
from checker.reading.notebook import CHECK_RECORD, Cell, Unreadable, dump, joined, notebook_of, parse, printed

EXPECTED_LINES = 12
WORD = re.compile(r"\w+")
QUOTED = re.compile(r"`([^`\n]+)`")
# In the header of a notebook whose task is the student's to choose.
OWN_TASK = re.compile(r"^ +task: own$", re.MULTILINE)
SHOULD_PRINT = "What it should print, with numbers like these:"
EXAMPLE_PRINTED = "What the worked example printed here; a task of yours prints something else:"


class FilledError(Exception):
    """The blank edition's place is taken by one that somebody has filled in; the message says where."""


def blank(content: dict, source: str) -> dict:
    """The blank edition of a notebook's JSON. `source` names the worked notebook, in messages and in the
    edition.

    Raises:
        MarkerError: see `blank_code`; or a solution line would show in the blank edition.
    """
    notebook = copy.deepcopy(content)
    named = notebook_of(content)
    header = joined(content["cells"][0]["source"]) if content["cells"] else ""
    words = EXAMPLE_PRINTED if OWN_TASK.search(header) else SHOULD_PRINT
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        where = f"{source}, {place_in(named, number)}"
        lines = joined(cell["source"]).split("\n")
        if cell["cell_type"] == "code":
            cell["source"] = "\n".join(blank_code(lines, where))
            exercise = cell["source"] != joined(content["cells"][number]["source"])
            expected = _expected(named.cells[number], words) if exercise else None
            cell["outputs"] = []
            cell["execution_count"] = None
        else:
            expected = None
            if cell["cell_type"] == "markdown":
                cell["source"] = "\n".join(blank_markdown(lines, where))
        cell["metadata"] = {}
        cells.append(cell)
        # The outputs are gone, so a cell of text says what the exercise prints when it is right.
        if expected:
            cells.append({"cell_type": "markdown", "id": f"{cell['id']}-expected", "metadata": {}, "source": expected})
        if number == 0:
            worth = total(exercises(content["cells"]))
            note = (
                f"*Generated from `{source}` by `checker assign`. Fill in a copy of it; the next build"
                f" overwrites this file. Its exercises are worth {worth:g} points in all.*"
            )
            cells.append({"cell_type": "markdown", "id": f"{cell['id']}-generated", "metadata": {}, "source": note})
    notebook["cells"] = cells
    kernel = content.get("metadata", {}).get("kernelspec", {})
    notebook["metadata"] = {"kernelspec": kernel, "course": identity(cells)}
    # A slip in the worked notebook must never hand out a solution: the finished edition is searched for one.
    if leaks := leaked(content, notebook):
        raise MarkerError(
            f"{source}: a line of a solution is in the blank edition as well: {leaks[0].strip()!r}. Say it in"
            " another way outside."
        )
    return notebook


def _expected(cell: Cell, words: str) -> str | None:
    """The lines and tables that the worked notebook shows below this exercise, after these words; None without any."""
    shown = [o for o in cell.outputs if o.kind != "error" and not o.image and CHECK_RECORD not in o.data]
    lines = plain("".join(map(printed, shown))).rstrip().splitlines()
    if not lines:
        return None
    beginning = lines[:EXPECTED_LINES] + (["..."] if len(lines) > EXPECTED_LINES else [])
    return f"{words}\n\n```text\n" + "\n".join(beginning) + "\n```"


def solution_lines(content: dict) -> set[str]:
    """The lines of code of all solutions that name something: no comments, no brackets, no `else:`."""
    found = set()
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            lines = joined(cell["source"]).split("\n")
            found |= {line.strip() for line, inside, position in walk(lines, BEGIN, END, "") if inside and position > 0}
    return {line for line in found if not line.startswith("#") and set(WORD.findall(line)) - set(kwlist)}


def leaked(content: dict, blank_edition: dict) -> list[str]:
    """Lines of solutions that the blank edition shows, as lines of code or text or between backticks, sorted."""
    shown = set()
    for cell in blank_edition["cells"]:
        source = joined(cell["source"])
        shown |= {line.strip() for line in source.split("\n")}
        if cell["cell_type"] == "markdown":
            shown |= set(QUOTED.findall(source))
    return sorted(solution_lines(content) & shown)


def fill(blank_edition: dict, content: dict) -> dict:
    """The blank edition with its exercises solved: the worked notebook's cells again, by their ids."""
    solved = {cell["id"]: cell for cell in content["cells"]}
    cells = [solved.get(cell["id"], cell) for cell in blank_edition["cells"]]
    return blank_edition | {"cells": cells}


def edition(path: Path, folder: Path, force: bool = False) -> tuple[Path, str]:
    """The path of a worked notebook's blank edition, which has the same name, and the text to be written there.

    Args:
        force: whether an edition that somebody has filled in is overwritten.

    Raises:
        Unreadable: not a notebook.    MarkerError: see `blank`.    FilledError: the place is taken.
    """
    content = parse(path)
    notebook = notebook_of(content, path)
    for cell, entry in zip(notebook.cells, content["cells"], strict=True):
        where = f"{path}, {place_in(notebook, cell.number)}"
        if cell.flaw:
            raise MarkerError(
                f"{where}: this is not a valid cell, {cell.flaw}. Open the notebook in Jupyter and mend it."
            )
        if not entry.get("id"):
            raise MarkerError(
                f"{where}: the cell has no id. Save the notebook in a current Jupyter, so that every cell has one."
            )
    target = folder / path.name
    if target.resolve() == path.resolve():
        raise MarkerError(f"{target} is the worked notebook itself. Give another folder.")
    fresh = blank(content, f"{path.parent.name}/{path.name}")
    if target.exists() and not force:
        _refuse_filled(target, fresh)
    return target, dump(fresh)


def _refuse_filled(target: Path, fresh: dict) -> None:
    """Raises FilledError where something in the target would be lost."""
    advice = "Move it to work/ to keep it, or overwrite it with --force. Nothing was written."
    try:
        there = parse(target)
        places = filled(notebook_of(there, target), there, fresh)
    except Unreadable as error:
        raise FilledError(f"{target} cannot be read, and may hold somebody's work: {error} {advice}") from error
    if places:
        more = f" (and {len(places) - 1} more)" if len(places) > 1 else ""
        raise FilledError(f"{target} is filled in: {places[0]} is not as it was handed out{more}. {advice}")


def assign(path: Path, folder: Path, force: bool = False) -> Path:
    """Write the blank edition of a worked notebook into a folder. Raises as `edition` does; nothing is written then."""
    target, text = edition(path, folder, force)
    write_beside(target, text)
    return target
