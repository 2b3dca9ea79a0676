"""Worked notebooks: what a student's notebook is graded by, exercise by exercise."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checker.editions.assign import blank
from checker.editions.identity import HASH_LENGTH, exercises, recorded
from checker.points.items import Check, Item, items_of
from checker.reading.notebook import Unreadable, joined, notebook_of, parse
from checker.reading.syntax.statements import Definitions, definitions


@dataclass(frozen=True)
class WorkedNotebook:
    """A worked notebook: the exercises with their points and solutions. name: of its file.

    edition: a hash of each exercise as it is handed out.
    handed_out, content: the notebook's JSON without and with its solutions.
    """

    name: str
    items: tuple[Item, ...]
    edition: dict[str, str]
    definitions: Definitions
    handed_out: dict
    content: dict

    @property
    def points(self) -> float:
        return sum(item.points for item in self.items)

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, each once."""
        return tuple(dict.fromkeys(check for item in self.items for check in item.checks))

    @property
    def digest(self) -> str:
        """A hash that changes when the notebook does."""
        sources = [joined(cell.get("source")) for cell in self.content["cells"]]
        text = repr((self.name, self.items, sorted(self.edition.items()), sources))
        return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def read_worked_notebook(path: Path) -> WorkedNotebook:
    """Read a worked notebook. Raises Unreadable, or MarkerError as `checker assign` does."""
    content = parse(path)
    notebook = notebook_of(content, path)
    known = definitions(notebook)
    handed_out = blank(content, f"{path.parent.name}/{path.name}")
    items = items_of(notebook, content)
    return WorkedNotebook(path.name, items, exercises(handed_out["cells"]), known, handed_out, content)


def read_worked_notebooks(folders: Iterable[Path]) -> list[WorkedNotebook]:
    """The worked notebooks in folders, those of older editions among them. Raises Unreadable where there is none."""
    folders = list(folders)
    worked_notebooks = [read_worked_notebook(path) for folder in folders for path in sorted(folder.glob("*.ipynb"))]
    worked_notebooks = [worked for worked in worked_notebooks if worked.items]
    if not worked_notebooks:
        raise Unreadable(
            f"There are no worked notebooks with exercises in {', '.join(map(str, folders))}. Call this in the course's"
            " folder, or name theirs in class.yml: `worked: [COURSE/notebooks]`."
        )
    return worked_notebooks


def worked_notebook_for(content: dict, file_name: str, worked_notebooks: list[WorkedNotebook]) -> WorkedNotebook:
    """The worked notebook of what a student handed in, by the edition that its metadata names, else by the file's name.

    Raises:
        Unreadable: none is its own; the message says what is known.
    """
    handed_out = recorded(content)
    if handed_out:
        for worked in worked_notebooks:
            if worked.edition == handed_out:
                return worked
        version = content["metadata"]["course"].get("version", "unknown")
        raise Unreadable(
            f"It was handed out by version {version} of the course, and none of the worked notebooks is of that"
            " edition. Name the folder of that version as well, in class.yml: `worked: [notebooks, OLDER/notebooks]`."
        )
    named = [worked for worked in worked_notebooks if _is_named(worked.name, Path(file_name).stem.lower())]
    if len(named) == 1:
        return named[0]
    names = [worked.name for worked in worked_notebooks]
    raise Unreadable(
        "It does not say which notebook it is: its metadata was lost, and its name is not like that of one worked"
        f" notebook ({', '.join(names)}). Rename it, for instance to {names[0]}."
    )


def _is_named(notebook: str, stem: str) -> bool:
    """True if a file's name holds a notebook's, however that is spaced; "lab-12" does not hold "lab-1"."""
    parts = re.findall(r"[a-z]+|\d+", Path(notebook).stem.lower())
    pattern = r"[^a-z0-9]*".join(rf"(?<!\d){part}(?!\d)" if part.isdigit() else part for part in parts)
    return bool(parts) and re.search(pattern, stem) is not None
