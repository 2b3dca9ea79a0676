"""Blank editions from worked notebooks: solutions out, TODOs kept, outputs cleared.

    a cell of the worked notebook                       inside, position    the same cell of the blank edition
    def square(x):                                      no                  def square(x):
        # student code here                             no                      # student code here
        # TODO: return the square of x (1 point)        yes, 0                  # TODO: return the square of x (1 point)
        squared = x * x                                 yes, 1                  raise NotImplementedError
        return squared                                  yes, 2
        # end student code                              no                      # end student code

`blank_code` does that to the lines of one cell, `blank` to all cells of a notebook, and `edition` to a file. In Markdown an
answer between its markers becomes "Your answer here." (`checker/reading/markers.py` has the markers.) The finished edition
is searched for lines of a solution. It carries the course's version and what its exercises look like, so that one that
somebody has filled in is told from one that may be built again.
"""

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from keyword import kwlist
from pathlib import Path

from checker.editions.identity import filled, identity, recorded
from checker.editions.kept_answers import kept_answers
from checker.reading.convert import plain
from checker.reading.exercises import exercises, total
from checker.reading.files import write_beside
from checker.reading.layout import place_in
from checker.reading.markers import (
    ANSWER_BEGIN,
    ANSWER_END,
    ANSWER_WITH_POINTS,
    BEGIN,
    BLANK_ANSWER,
    END,
    MarkerError,
    begins,
    number_of,
    walk,
)
from checker.reading.notebook import CHECK_RECORD, Cell, Unreadable, dump, joined, notebook_of, parse, printed
from checker.reading.todos import todo_at
from checker.reading.website import QUESTIONS, SETTINGS, website

EXPECTED_LINES = 12
WORD = re.compile(r"\w+")
QUOTED = re.compile(r"`([^`\n]+)`")
# In the header of a notebook whose task is the student's to choose.
OWN_TASK = re.compile(r"^ +task: own$", re.MULTILINE)
# A call of a check. An exercise without one, such as an experiment, has nothing that it should print.
CHECKED = re.compile(r"^(?:if )?check\.", re.MULTILINE)
# In the metadata of the course's own text. Jupyter and VS Code then do not change it by accident; nothing here reads it.
LOCKED = {"editable": False, "deletable": False}
# In the metadata of Cell 0, so that a notebook opens on its title in JupyterLab, and of what an exercise should print.
FOLDED = {"jupyter": {"source_hidden": True}}
SHOULD_PRINT = "What it should print, about:"
EXAMPLE_PRINTED = "What the worked example printed here:"


class FilledError(Exception):
    """The blank edition's place is taken by one that somebody has filled in; the message says where."""


@dataclass(frozen=True)
class Edition:
    """An edition that is not written yet: its path, its text, and how many exercises and answers were taken out of it.

    warnings: sentences on what stayed in it and looks like an answer.
    """

    path: Path
    text: str
    exercises: int
    answers: int
    warnings: tuple[str, ...] = ()

    @property
    def taken_out(self) -> str:
        """ "2 exercises, 3 answers"."""
        return f"{number_of(str(self.exercises), 'exercise')}, {number_of(str(self.answers), 'answer')}"


def blank_code(lines: list[str], where: str = "") -> list[str]:
    """The lines of a code cell with each solution replaced by `raise NotImplementedError`; its TODO stays.

    `walk` gives each line, whether it is inside of a solution, and its position there: the middle column above.

    Raises:
        MarkerError: markers are not in pairs, are misspelt, or an exercise does not begin with a TODO.
    """
    kept: list[str] = []
    for number, (line, inside, position) in enumerate(walk(lines, BEGIN, END, where)):
        if not inside:
            kept.append(line)
        elif position == 0:
            todo = todo_at(lines[number:])  # a comment of one line or more
            if todo is None:
                raise MarkerError(
                    f"{where}: the line after `{BEGIN}` must be `# TODO: ...`, and it is {line.strip()!r}."
                )
            indent = line[: len(line) - len(line.lstrip())]
            kept += [*todo.lines, f"{indent}raise NotImplementedError"]
    return kept


def blank_markdown(lines: list[str], where: str = "") -> list[str]:
    """A Markdown cell's lines with each answer replaced by `Your answer here.` Errors as in `blank_code`.

    What an answer is worth stays to be read, in a line above it.
    """
    kept: list[str] = []
    for line, inside, _ in walk(lines, ANSWER_BEGIN, ANSWER_END, where):
        if begins(line, ANSWER_BEGIN):
            kept += _blank_answer(line)
        elif not inside and line.strip() != ANSWER_END:
            kept.append(line)
    return kept


def _blank_answer(marker: str) -> list[str]:
    worth = ANSWER_WITH_POINTS.fullmatch(marker.strip())
    if worth is None:
        return [BLANK_ANSWER]
    return [f"*Worth {number_of(worth.group(1), 'point')}{worth.group(2) or ''}.*", "", BLANK_ANSWER]


def blank_cell(worked: dict, where: str) -> dict:
    """A cell without its solution or answer, without outputs, and without what its author's editor noted in it."""
    cell = copy.deepcopy(worked)
    lines = joined(cell["source"]).split("\n")
    cell["metadata"] = {}
    if cell["cell_type"] == "code":
        cell["source"] = "\n".join(blank_code(lines, where))
        cell["outputs"] = []
        cell["execution_count"] = None
    elif cell["cell_type"] == "markdown":
        cell["source"] = "\n".join(blank_markdown(lines, where))
        if BLANK_ANSWER not in cell["source"].split("\n"):
            cell["metadata"] |= LOCKED
    if worked.get("metadata", {}).get("jupyter") == FOLDED["jupyter"]:
        cell["metadata"] |= FOLDED
    return cell


def blank(content: dict, source: str, questions: str = "") -> dict:
    """The blank edition of a notebook's JSON.

    Below Cell 0 comes a note on what the file is, below an exercise that is checked what it should print.

    Args:
        source: names the worked notebook, in messages and in the edition.
        questions: the public address of the questions on it, "" where there is none.

    Raises:
        MarkerError: see `blank_code`; or a solution line would show in the blank edition.
    """
    notebook = notebook_of(content)
    own_task = any(OWN_TASK.search(joined(first["source"])) for first in content["cells"][:1])
    cells = []
    for number, worked in enumerate(content["cells"]):
        cell = blank_cell(worked, f"{source}, {place_in(notebook, number)}")
        cells.append(cell)
        if _is_checked_exercise(worked, cell):
            words = EXAMPLE_PRINTED if own_task else SHOULD_PRINT
            cells += _should_print(notebook.cells[number], f"{cell['id']}-expected", words)
        if number == 0:
            cells.append(_text(f"{cell['id']}-generated", _note(content, source, questions), LOCKED))
    if own_task:  # the title is the student's to write
        cells[0]["metadata"] = {name: value for name, value in cells[0]["metadata"].items() if name not in LOCKED}
    kernel = content.get("metadata", {}).get("kernelspec", {})
    made = content | {"cells": cells, "metadata": {"kernelspec": kernel, "course": identity(cells)}}
    # A slip in the worked notebook must never hand out a solution: the finished edition is searched for one.
    if leaks := leaked(content, made):
        raise MarkerError(
            f"{source}: a line of a solution is in the blank edition as well: {leaks[0].strip()!r}. Outside of the"
            " solution say it in another way."
        )
    return made


def _is_checked_exercise(worked: dict, cell: dict) -> bool:
    """True for code that a solution was taken out of and that calls a check."""
    changed = cell["cell_type"] == "code" and cell["source"] != joined(worked["source"])
    return changed and CHECKED.search(cell["source"]) is not None


def _text(name: str, source: str, metadata: dict) -> dict:
    """A cell of text with this id."""
    return {"cell_type": "markdown", "id": name, "metadata": dict(metadata), "source": source}


def _note(content: dict, source: str, questions: str) -> str:
    """The note below the title: what this file is, and what it is worth."""
    note = (
        f"*Generated from `{source}` by `checker assign`. Fill in a copy of it; the next build"
        f" overwrites this file. Its exercises are worth {total(exercises(content['cells'])):g} points in all.*"
    )
    return note + (f" When you have filled it in: [questions to test yourself]({questions})." if questions else "")


def _should_print(cell: Cell, name: str, words: str) -> list[dict]:
    """A cell of text with the lines and tables that the worked notebook shows below this exercise; none without any.

    The outputs are gone, so the text says what the exercise prints when it is right.
    """
    shown = [o for o in cell.outputs if o.kind != "error" and not o.image and CHECK_RECORD not in o.data]
    lines = plain("".join(map(printed, shown))).rstrip().splitlines()
    if not lines:
        return []
    beginning = lines[:EXPECTED_LINES] + (["..."] if len(lines) > EXPECTED_LINES else [])
    return [_text(name, f"{words}\n\n```text\n" + "\n".join(beginning) + "\n```", LOCKED | FOLDED)]


def solution_lines(content: dict) -> set[str]:
    """The lines of code of all solutions that name something: no comments, no brackets, no `else:`."""
    walked = walk(_lines_of(content, "code"), BEGIN, END, "")
    # At position 0 stands the TODO, which stays.
    found = {line.strip() for line, inside, position in walked if inside and position > 0}
    return {line for line in found if not line.startswith("#") and set(WORD.findall(line)) - set(kwlist)}


def leaked(content: dict, blank_edition: dict) -> list[str]:
    """Lines of solutions that the blank edition shows, as lines of code or text or between backticks, sorted."""
    shown = {line.strip() for line in _lines_of(blank_edition)}
    quoted = {part for line in _lines_of(blank_edition, "markdown") for part in QUOTED.findall(line)}
    return sorted(solution_lines(content) & (shown | quoted))


def _lines_of(content: dict, kind: str = "") -> list[str]:
    """The lines of all cells, or of those of a kind."""
    cells = [cell for cell in content["cells"] if kind in ("", cell["cell_type"])]
    return [line for cell in cells for line in joined(cell["source"]).split("\n")]


def fill(blank_edition: dict, content: dict) -> dict:
    """The blank edition with its exercises solved: the worked notebook's cells again, by their ids."""
    solved = {cell["id"]: cell for cell in content["cells"]}
    cells = [solved.get(cell["id"], cell) for cell in blank_edition["cells"]]
    return blank_edition | {"cells": cells}


def edition(path: Path, folder: Path, force: bool = False) -> Edition:
    """The blank edition of a worked notebook, which has the same name.

    Args:
        force: whether an edition that somebody has filled in is overwritten.

    Raises:
        Unreadable: not a notebook.    MarkerError: see `blank`.    FilledError: the place is taken.
    """
    content = _worked(path)
    target = _target(path, folder)
    fresh = blank(content, f"{path.parent.name}/{path.name}", _questions(path))
    if target.exists() and not force:
        _refuse_filled(target, fresh)
    return _edition(target, fresh, content, kept_answers(notebook_of(content, path)))


def edition_for(path: Path, folder: Path, written: Callable[[dict, str], dict]) -> Edition:
    """The edition of a worked notebook for another grader, solutions in it, as `written` makes it of a notebook's JSON.

    Raises:
        Unreadable, MarkerError: see `edition`.    FilledError: a blank edition lies there.
    """
    content = _worked(path)
    target = _target(path, folder)
    if target.exists() and recorded(parse(target)):
        raise FilledError(
            f"{target} is a blank edition, and what is written here has the solutions in it. Give another folder with"
            " -o. Nothing was written."
        )
    return _edition(target, written(content, f"{path.parent.name}/{path.name}"), content)


def _questions(path: Path) -> str:
    """The public address of the questions on a worked notebook; "" where it has none, or its course no public site."""
    course = path.resolve().parents[1]
    if not (path.parent / QUESTIONS / f"{path.stem}.yml").is_file() or not (course / SETTINGS).is_file():
        return ""
    return website(course).questions(Path(path.parent.name) / path.name)


def _worked(path: Path) -> dict:
    """The JSON of a worked notebook each of whose cells is valid and has an id."""
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
    return content


def _target(path: Path, folder: Path) -> Path:
    target = folder / path.name
    if target.resolve() == path.resolve():
        raise MarkerError(f"{target} is the worked notebook itself. Give another folder.")
    return target


def _edition(target: Path, made: dict, content: dict, warnings: Iterable[str] = ()) -> Edition:
    asked = sum(line.strip() == BEGIN for line in _lines_of(content, "code"))
    answers = sum(begins(line, ANSWER_BEGIN) for line in _lines_of(content, "markdown"))
    return Edition(target, dump(made), asked, answers, tuple(warnings))


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
    made = edition(path, folder, force)
    write_beside(made.path, made.text)
    return made.path
