"""What can be earned in a notebook: the exercises of a worked notebook, their points, and the checks that earn them.

An exercise is earned by the `check.` calls whose function it
fills in, or that use it; one without a check is the instructor's to grade.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from checker import points
from checker.assign import blank
from checker.editions import HASH_LENGTH, exercises, recorded
from checker.grading.functions import Definitions, definitions, take
from checker.layout import heading_of, sections
from checker.markers import BEGIN
from checker.notebook import Notebook, Unreadable, joined, parse, read
from checker.rules.syntax.trees import Tree, read_trees


@dataclass(frozen=True)
class Check:
    """A `check.` call: `check.kl(per_token_kl)` has the name "kl" and the function "per_token_kl".

    beside: further functions of the notebook that it is handed, as a reward's cases are.
    """

    name: str
    function: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """One exercise.

    key: as `checker.points` has it, "cell-05/2".       function: the one at top level that holds it, "" for none.
    wanted: what it asks.   points: what it is worth.   section: where it stands, "Cell 5: One GRPO step".
    checks: those that earn it; none for one that the instructor grades.    written: whether it is answered in words.
    """

    key: str
    function: str
    wanted: str
    points: float
    section: str
    checks: tuple[Check, ...] = ()
    written: bool = False

    @property
    def name(self) -> str:
        """What a person calls it, and a column of the table."""
        return self.function or self.wanted or self.key


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
    notebook = read(path)
    content = parse(path)
    known = definitions(notebook)
    handed_out = blank(content, f"{path.parent.name}/{path.name}")
    items = tuple(_items(notebook, content, known))
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


def _items(notebook: Notebook, content: dict, known: Definitions) -> Iterator[Item]:
    checks = _checks(notebook, known)
    trees = {tree.cell: tree for tree in read_trees(notebook)}
    headings = _headings(notebook)
    numbers = {cell.get("id", ""): number for number, cell in enumerate(content["cells"])}
    for exercise in points.exercises(content["cells"]):
        name, _, position = exercise.key.rpartition("/")
        number = numbers[name]
        function = "" if exercise.written else _function_around(trees.get(number), int(position))
        earned_by = tuple(check for check, uses in checks if function in uses)
        section = headings.get(number, f"cell {number}")
        yield Item(exercise.key, function, exercise.what, exercise.points, section, earned_by, exercise.written)


def _checks(notebook: Notebook, known: Definitions) -> list[tuple[Check, frozenset[str]]]:
    """Each `check.` call with a function of the notebook, and the exercises that it is about.

    A check of an exercise is about this one alone, whatever it calls; a check of anything else, such as a function that
    prepares arguments, about the exercises that it calls.
    """
    found = []
    for tree in read_trees(notebook):
        for node in ast.walk(tree.module):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if not (isinstance(node.func.value, ast.Name) and node.func.value.id == "check"):
                continue
            handed = [part.id for part in node.args if isinstance(part, ast.Name) and part.id in known.nodes]
            if handed:
                check = Check(node.func.attr, handed[0], tuple(handed[1:]))
                found.append((check, _about(check.function, known)))
    return found


def _about(function: str, known: Definitions) -> frozenset[str]:
    if function in known.filled:
        return frozenset({function})
    source = take(function, known, known).source
    defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    return frozenset(defined & known.filled)


def _function_around(tree: Tree | None, position: int) -> str:
    """The function at top level that holds the exercise at this position in a cell, from 1; "" for none."""
    if tree is None:
        return ""
    begins = [number for number, line in enumerate(tree.lines, 1) if line.strip() == BEGIN]
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
            named[cell.number] = heading_of(cells[0])
    return named
