"""The identity of a blank edition: the version it was built from, and whether somebody has filled it in since.

Its metadata holds `course`: the version it was built from, and a hash of each exercise as it was handed out. The
checker's other commands do not look at it, and it is no part of the text that is handed in. *Edition*: see
CONTRIBUTING: house words.
"""

import hashlib

from checker import __version__
from checker.reading.layout import place_in
from checker.reading.markers import BEGIN, BLANK_ANSWER, END
from checker.reading.notebook import Notebook, joined

HASH_LENGTH = 12  # hexadecimal digits: 48 bits tell a hundred exercises apart
ANSWERS = "answers"


def identity(cells: list[dict]) -> dict:
    """The metadata `course` of a blank edition with these cells: its version and its exercises."""
    return {"version": __version__, "exercises": exercises(cells)}


def exercises(cells: list[dict]) -> dict[str, str]:
    """Each exercise's hash, by the cell's id and the exercise's number in it.

    "cell-05/2" is the second exercise in the code of cell-05, from marker to marker. "cell-08/answers" is a Markdown
    cell in which an answer is still to be written, all of it.
    """
    found = {}
    for cell in cells:
        name = cell.get("id")
        source = joined(cell.get("source"))
        if cell.get("cell_type") == "code":
            for number, text in enumerate(_between_markers(source), 1):
                found[f"{name}/{number}"] = _hash(text)
        elif any(line.strip() == BLANK_ANSWER for line in source.split("\n")):
            found[f"{name}/{ANSWERS}"] = _hash(source)
    return found


def filled(notebook: Notebook, content: dict, fresh: dict) -> list[str]:
    """The exercises that are not as they were handed out, each named by its section: 'exercise 2 in Cell 5: ...'.

    Args:
        notebook, content: the edition that was found, as a record and as its JSON.
        fresh: the edition that would take its place, with which one that has no metadata yet is compared.
    """
    handed_out = recorded(content) or exercises(fresh["cells"])
    now = exercises(content["cells"])
    changed = [key for key in handed_out if now.get(key) != handed_out[key]]
    return [_place(key, notebook, content) for key in changed]


def recorded(content: dict) -> dict:
    """The exercises that a notebook's metadata names; empty where it names none."""
    metadata = content.get("metadata")
    course = metadata.get("course") if isinstance(metadata, dict) else None
    recorded = course.get("exercises") if isinstance(course, dict) else None
    return recorded if isinstance(recorded, dict) else {}


def _between_markers(source: str) -> list[str]:
    """The text of each exercise in a cell; one that is not closed goes to the cell's end."""
    texts = []
    lines = None
    for line in source.split("\n"):
        if line.strip() == BEGIN:
            lines = []
            texts.append(lines)
        elif line.strip() == END:
            lines = None
        elif lines is not None:
            lines.append(line)
    return ["\n".join(lines) for lines in texts]


def _hash(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:HASH_LENGTH]


def _place(key: str, notebook: Notebook, content: dict) -> str:
    """An exercise as a person would name it, "cell-05/2" as 'exercise 2 in Cell 5: One GRPO step'."""
    name, _, which = key.rpartition("/")
    what = "an answer" if which == ANSWERS else f"exercise {which}"
    ids = [cell.get("id") for cell in content["cells"]]
    if name not in ids:
        return f"{what} in the cell with the id {name}, which is gone,"
    return f"{what} in {place_in(notebook, ids.index(name))}"
