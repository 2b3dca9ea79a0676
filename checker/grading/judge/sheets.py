"""What can be earned in a notebook: the exercises of a worked notebook with their points, as a key to grade by."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checker.assign import blank
from checker.editions import HASH_LENGTH, exercises, recorded
from checker.grading.functions import Definitions, definitions, take
from checker.grading.items import Check, Item, items_of
from checker.notebook import Unreadable, joined, notebook_of, parse


@dataclass(frozen=True)
class Sheet:
    """A worked notebook as a key. name: its file's. edition: a hash of each exercise as it is handed out.

    handed_out, worked: the notebook's JSON without and with its solutions.
    imports: what of the project the worked solution of each function imports, and a student's may.
    """

    name: str
    items: tuple[Item, ...]
    edition: dict[str, str]
    definitions: Definitions
    imports: dict[str, frozenset[str]]
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
        """What changes when the key does."""
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
    checks = {check.function: check for item in items for check in item.checks}
    imports = {
        function: take(function, known, known, beside=check.beside).imports
        for function, check in sorted(checks.items())
    }
    return Sheet(path.name, items, exercises(handed_out["cells"]), known, imports, handed_out, content)


def read_sheets(folders: Iterable[Path]) -> list[Sheet]:
    """The keys in folders, those of older editions among them. Raises Unreadable where there is none."""
    folders = list(folders)
    sheets = [read_sheet(path) for folder in folders for path in sorted(folder.glob("*.ipynb"))]
    sheets = [sheet for sheet in sheets if sheet.items]
    if not sheets:
        raise Unreadable(
            f"There are no worked notebooks with exercises in {', '.join(map(str, folders))}. Call this in the course's"
            " folder, or name theirs: --against COURSE/notebooks."
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
            " edition. Give the folder of that version as well: --against notebooks --against OLDER/notebooks."
        )
    named = [sheet for sheet in sheets if _is_named(sheet.name, Path(file_name).stem.lower())]
    if len(named) == 1:
        return named[0]
    raise Unreadable(
        "It does not say which notebook it is: its metadata was lost, and its name is not like that of one worked"
        f" notebook ({', '.join(sheet.name for sheet in sheets)}). Rename it, for instance to {sheets[0].name}."
    )


def _is_named(notebook: str, stem: str) -> bool:
    """Whether a file's name holds a notebook's, however that is spaced; "lab-12" does not hold "lab-1"."""
    parts = re.findall(r"[a-z]+|\d+", Path(notebook).stem.lower())
    pattern = r"[^a-z0-9]*".join(rf"(?<!\d){part}(?!\d)" if part.isdigit() else part for part in parts)
    return bool(parts) and re.search(pattern, stem) is not None
