"""The rules of a class, `class.yml` in its folder: the first run writes them, every later one reads them.

What belongs to an assignment and not to one call stands there, so that no call can forget it: which notebooks are
assigned, who is in the class, what a late day costs. A file of this name that a student hands in is a file like any other.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from checker.grading.collect.attribution import BadPattern, compiled
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.grading.judge.worked_run import TIMES_THE_MEMORY, TIMES_THE_SECONDS
from checker.grading.table.class_folder import RULES, Folder
from checker.grading.table.lateness import LateRule, late_rule
from checker.reading.notebook import Unreadable

TEMPLATE = """\
# The rules of this class. Every run of `checker grade` reads them: change them here.
# Files are named as seen from the folder in which the command is called.
notebooks: []            # those that are assigned, such as [dots.ipynb]; no others count. [] for all of the course
worked: [notebooks]      # folders of worked notebooks, those of an older edition among them
roster:                  # the class list, a CSV: the first column is the id, the others are further names
pattern:                 # where in a file's place the student stands: '(?P<student>\\w+)_dots'
due:                     # when it was due, such as 2026-11-20 23:59:59; what is dated later is late
late off:                # what each further late day takes off the total, in points or per cent: 2, or 10%
free days: 0             # late days that cost nothing; a roster's column `free days` goes before
columns: []              # of a platform's gradebook: [Dots (4711)] for the total; for one notebook [dots.ipynb=Dots (4711)]
seed: {seed}          # of the hidden cases: keep it to yourself while the assignment runs
whole notebooks: true    # false: give the points and do not run whole notebooks
anonymous: false         # true: pages without names; names.csv tells who is who
seconds:                 # for a whole notebook, at most; empty: {times} times what the worked one takes on this machine
megabytes:               # of memory for its processes together; empty: {memory} times what those of the worked one take
"""


@dataclass(frozen=True)
class Rules:
    """The rules as the file has them. notebooks: () for all of the course.    late: None where late days cost nothing.

    seconds, megabytes: None for those of the worked notebook, times a factor.
    """

    notebooks: tuple[str, ...] = ()
    worked: tuple[Path, ...] = ()
    roster: Path | None = None
    pattern: str = ""
    due: datetime | None = None
    late: LateRule | None = None
    columns: tuple[str, ...] = ()
    seed: int = 0
    whole: bool = True
    anonymous: bool = False
    seconds: float | None = None
    megabytes: float | None = None

    def assigns(self, notebook: str) -> bool:
        """True for a notebook that counts: one of those that are named, or any where none is."""
        return not self.notebooks or notebook in self.notebooks

    def __str__(self) -> str:
        """The rules in a line, as they stand above the table."""
        assigned = ", ".join(self.notebooks) or "all notebooks of the course"
        due = f"due {self.due:%Y-%m-%d %H:%M}" if self.due else "no due date"
        return f"Assigned: {assigned}. {due.capitalize()}; {self.late or 'late days cost nothing'}."


def rules_of(folder: Folder) -> Rules:
    """The rules of a class. Where there are none yet, those of the template are written down.

    Raises:
        Unreadable: the file is not such a file, or an earlier version graded this class by rules that nobody wrote down.
    """
    place = folder.path / RULES
    if not place.is_file():
        folder.write(RULES, _template(folder.seed()))
        if _had_rules(folder.path / "grades.csv"):
            raise Unreadable(
                f"{place} is new: an earlier version graded this class, and did not keep its rules. Write roster, due date"
                " and late days into it, and call this again. Nothing was changed."
            )
    return read_rules(place)


def _template(seed: int) -> str:
    return TEMPLATE.format(seed=seed, times=TIMES_THE_SECONDS, memory=TIMES_THE_MEMORY)


def _had_rules(table: Path) -> bool:
    """True where the table of an earlier version was made by a rule for late days or with a class list.

    Without them the class of a template is the same class, and the table comes out as it was.
    """
    text = table.read_text(encoding="utf-8-sig", errors="replace") if table.is_file() else ""
    return ",days late," in text or "No notebook was handed in" in text


def require_assigned(rules: Rules, worked_notebooks: Iterable[WorkedNotebook]) -> None:
    """Raises Unreadable where a notebook is assigned that there is not."""
    there = {worked.name for worked in worked_notebooks} if rules.notebooks else set()
    if strange := sorted(set(rules.notebooks) - there):
        raise Unreadable(f"{RULES} assigns {', '.join(strange)}. There are {', '.join(sorted(there))}.")


def read_rules(place: Path) -> Rules:
    """The rules in a file; what it leaves out is as in the template. Raises Unreadable for what is no such file."""
    try:
        said = yaml.safe_load(place.read_text(encoding="utf-8")) or {}
        usual = yaml.safe_load(_template(0))
        if not isinstance(said, dict):
            raise Unreadable("it holds no rules, such as `free days: 2`, one a line.")
        if strange := [str(name) for name in said if name not in usual]:
            raise Unreadable(f"there is no rule {strange[0]!r}. Rules are {', '.join(usual)}.")
        if "seed" not in said:
            raise Unreadable("there is no seed. Write one, such as `seed: 20261120`.")
        return _rules(usual | {name: value for name, value in said.items() if value is not None})
    except (OSError, yaml.YAMLError, TypeError, ValueError, AttributeError, Unreadable, BadPattern) as error:
        raise Unreadable(f"{place} cannot be used: {error}") from error


def _rules(said: dict) -> Rules:
    due = said["due"]
    if due is not None and not isinstance(due, datetime):
        raise Unreadable(f"due is {due}. Give day and time, such as 2026-11-20 23:59:59.")
    for name in ("whole notebooks", "anonymous"):
        if not isinstance(said[name], bool):
            raise Unreadable(f"{name} is {said[name]!r}. Give true or false.")
    for name in ("notebooks", "worked", "columns"):
        if not isinstance(said[name], list):
            raise Unreadable(f"{name} is {said[name]!r}. Give a list, such as [{said[name]}].")
    compiled(said["pattern"] or "")
    return Rules(
        notebooks=tuple(map(str, said["notebooks"])),
        worked=tuple(map(Path, said["worked"])),
        roster=Path(said["roster"]) if said["roster"] else None,
        pattern=said["pattern"] or "",
        due=due,
        late=late_rule(int(said["free days"]), "" if said["late off"] is None else str(said["late off"])),
        columns=tuple(map(str, said["columns"])),
        seed=int(said["seed"]),
        whole=said["whole notebooks"],
        anonymous=said["anonymous"],
        seconds=_positive(said, "seconds"),
        megabytes=_positive(said, "megabytes"),
    )


def _positive(said: dict, name: str) -> float | None:
    """A limit; None where the rules leave it to what the worked notebook takes."""
    if said[name] is None:
        return None
    if not float(said[name]) > 0:
        raise Unreadable(f"{name} is {said[name]}. Give a number above 0, or nothing.")
    return float(said[name])
