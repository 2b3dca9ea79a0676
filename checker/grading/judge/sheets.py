"""The key of a notebook: the exercises of the worked one with their points."""

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
class Sheet:
    """A worked notebook as a key. name: its file's. edition: a hash of each exercise as it is handed out.

    handed_out, worked: the notebook's JSON without and with its solutions.
    """

    name: str
    items: tuple[Item, ...]
    edition: dict[str, str]
    definitions: Definitions
    handed_out: dict
    worked: dict

    @property
    def points(self) -> float:
        return sum(item.points for item in self.items)

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, each once."""
        return tuple(dict.fromkeys(check for item in self.items for check in item.checks))

    @property
    def digest(self) -> str:
        """A hash that changes when the key does."""
        worked = [joined(cell.get("source")) for cell in self.worked["cells"]]
        text = repr((self.name, self.items, sorted(self.edition.items()), worked))
        return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def read_sheet(path: Path) -> Sheet:
    """The key in a worked notebook. Raises Unreadable, or MarkerError as `checker assign` does."""
    content = parse(path)
    notebook = notebook_of(content, path)
    known = definitions(notebook)
    handed_out = blank(content, f"{path.parent.name}/{path.name}")
    items = items_of(notebook, content)
    return Sheet(path.name, items, exercises(handed_out["cells"]), known, handed_out, content)


def read_sheets(folders: Iterable[Path]) -> list[Sheet]:
    """The keys in folders, those of older editions among them. Raises Unreadable where there is none."""
    folders = list(folders)
    sheets = [read_sheet(path) for folder in folders for path in sorted(folder.glob("*.ipynb"))]
    sheets = [sheet for sheet in sheets if sheet.items]
    if not sheets:
        raise Unreadable(
            f"There are no worked notebooks with exercises in {', '.join(map(str, folders))}. Call this in the course's"
            " folder, or name theirs in class.yml: `worked: [COURSE/notebooks]`."
        )
    return sheets


def sheet_for(content: dict, file_name: str, sheets: list[Sheet]) -> Sheet:
    """The key of what a student handed in, by the edition that its metadata names, else by the file's name.

    Raises:
        Unreadable: no key is its own; the message says what is known.
    """
    handed_out = recorded(content)
    if handed_out:
        for sheet in sheets:
            if sheet.edition == handed_out:
                return sheet
        version = content["metadata"]["course"].get("version", "unknown")
        raise Unreadable(
            f"It was handed out by version {version} of the course, and none of the worked notebooks is of that"
            " edition. Name the folder of that version as well, in class.yml: `worked: [notebooks, OLDER/notebooks]`."
        )
    named = [sheet for sheet in sheets if _is_named(sheet.name, Path(file_name).stem.lower())]
    if len(named) == 1:
        return named[0]
    raise Unreadable(
        "It does not say which notebook it is: its metadata was lost, and its name is not like that of one worked"
        f" notebook ({', '.join(sheet.name for sheet in sheets)}). Rename it, for instance to {sheets[0].name}."
    )


def _is_named(notebook: str, stem: str) -> bool:
    """True if a file's name holds a notebook's, however that is spaced; "lab-12" does not hold "lab-1"."""
    parts = re.findall(r"[a-z]+|\d+", Path(notebook).stem.lower())
    pattern = r"[^a-z0-9]*".join(rf"(?<!\d){part}(?!\d)" if part.isdigit() else part for part in parts)
    return bool(parts) and re.search(pattern, stem) is not None
