"""What a class handed in: whose each notebook is, and what cannot be graded as it is, with the reason.

Whose a notebook is, is told by the place where the platform put it, by the roster, or by a pattern; it is never guessed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath

from checker.check import RENAMED
from checker.editions import recorded
from checker.findings import one_line
from checker.grading.layouts import METADATA, metadata, senders, without_number
from checker.grading.roster import Roster
from checker.grading.whose import DOUBLE, compiled, whose_it_is
from checker.inventory import take
from checker.notebook import Unreadable, parse

NOTEBOOK = ".ipynb"
NUMBERED = re.compile(r"(?P<name>.*?)[-_ ]?(?P<number>\d+)", re.DOTALL)


@dataclass(frozen=True)
class Handed:
    """One notebook of one student.

    name: of the file as it was handed in.   place: where it lay, for people.
    upload: what orders several uploads, later ones larger; () where the platform does not say.
    """

    student: str
    name: str
    file: Path
    place: str
    late: bool = False
    upload: tuple[int, ...] = ()


@dataclass(frozen=True)
class Aside:
    """A file that is not graded, and why.

    student: who handed it in and has nothing graded in its place; "" where that is not known, or is not so.
    remark: what stands in this student's line and on the feedback, without names.
    """

    place: str
    reason: str
    student: str = ""
    remark: str = ""


@dataclass
class Collected:
    """All that was found."""

    handed: list[Handed] = field(default_factory=list)
    aside: list[Aside] = field(default_factory=list)


def collect(
    paths: Iterable[Path],
    scratch: Path,
    roster: Roster = Roster(),
    pattern: str = "",
    due: datetime | None = None,
    whose: str = "",
) -> Collected:
    """The notebooks of folders and of zips, which are unpacked into `scratch`.

    Args:
        pattern: a regular expression with a group named `student`, looked for in a file's place.
        whose: the student whose all of it is; "" for a class.

    Raises:
        BadPattern: it is no such expression.
    """
    asks = compiled(pattern)
    paths = list(paths)
    submissions = metadata(paths)
    found = Collected()
    uploads: dict[tuple[str, str], list[Handed]] = {}
    inventory = take(paths, scratch)
    for skipped in inventory.skipped:
        if PurePath(skipped.name.rpartition(":")[2]).name != METADATA:
            found.aside.append(Aside(one_line(skipped.name), f"It is {skipped.reason}."))
    for entry in inventory.entries:
        place = one_line(entry.name)
        if entry.error is not None:
            found.aside.append(Aside(place, str(entry.error)))
            continue
        if not entry.file.name.lower().endswith((NOTEBOOK, RENAMED)):
            found.aside.append(Aside(place, "It is not a notebook (.ipynb)."))
            continue
        members = set()
        for says in senders(entry.inside, submissions):
            student = whose or whose_it_is(entry.inside, says, roster, asks)
            if isinstance(student, Unreadable):
                found.aside.append(Aside(place, str(student)))
            elif student not in members:
                members.add(student)
                late = says.late or (due is not None and says.handed_in is not None and _after(says.handed_in, due))
                handed = Handed(student, one_line(says.file), entry.file, place, late, says.upload)
                uploads.setdefault((student, says.file), []).append(handed)
    for several in _with_numbered(uploads):
        _choose(several, found)
    return found


def _with_numbered(uploads: dict[tuple[str, str], list[Handed]]) -> list[list[Handed]]:
    """The uploads of each file, `dots-1.ipynb` among those of `dots.ipynb`, as Canvas names what is handed in again.

    Without a `lab.ipynb`, or of another edition, `lab-1.ipynb` is a notebook of its own.
    """
    together = dict(uploads)
    for (student, file), several in uploads.items():
        first = (student, without_number(file))
        again = several[0].upload and first in uploads
        if again and edition(uploads[first][0]) == edition(several[0]):
            together[first] = [*together[first], *together.pop((student, file))]
    return list(together.values())


def edition(handed: Handed) -> dict:
    """The exercises that a notebook's metadata names; none where it is no notebook."""
    try:
        return recorded(parse(handed.file))
    except Unreadable:
        return {}


def latest(several: list[Handed]) -> Handed | None:
    """The latest of several uploads, any where all hold the same; None where it is not known which that is."""
    ordered = sorted(several, key=lambda handed: handed.upload)
    undecided_between = [handed for handed in ordered if handed.upload == ordered[-1].upload]
    if len({handed.file.read_bytes() for handed in undecided_between}) > 1:
        return None
    return ordered[-1]


def apart(names: Iterable[str]) -> bool:
    """Whether files may be different notebooks though nothing but a number tells them apart: lab-1.ipynb, lab-2.ipynb."""
    numbered = [NUMBERED.fullmatch(DOUBLE.sub("", PurePath(name).stem)) for name in names]
    found = {(match["name"].lower(), int(match["number"])) for match in numbered if match}
    return len({name for name, _ in found}) < len(found)


def unlike(handed: Handed, notebook: str, several: list[Handed]) -> Aside:
    """What is said of one of several uploads that may be one notebook or different ones, see `apart`."""
    others = ", ".join(other.place for other in several if other is not handed)
    lost = "do not say which notebook they are: their metadata was lost"
    reason = f"This and {others} {lost}. Leave the one that is {notebook}, and name others as theirs are called."
    return Aside(handed.place, reason, handed.student, f"{handed.name} was not graded: several files {lost}.")


def undecided(handed: Handed, notebook: str, several: list[Handed]) -> Aside:
    """What is said of one of several uploads of a notebook of which none is known to be the latest."""
    others = ", ".join(other.place for other in several if other is not handed)
    twice = "twice, and which is the later one is not known"
    reason = f"{handed.student} handed in {notebook} {twice}: {others}. Leave one."
    return Aside(handed.place, reason, handed.student, f"{notebook} was handed in {twice}.")


def _choose(several: list[Handed], found: Collected) -> None:
    """Of a file that one student handed in several times the latest counts, where it is known which that is."""
    chosen = latest(several)
    if chosen is not None:
        found.handed.append(chosen)
    for handed in several:
        if chosen is None:
            found.aside.append(undecided(handed, handed.name, several))
        elif handed is not chosen:
            found.aside.append(Aside(handed.place, f"{handed.student} handed it in again: {chosen.place} is graded."))


def _after(moment: datetime, due: datetime) -> bool:
    """Whether a moment is after another; without a time zone, both are taken to be in the grader's."""
    return moment.astimezone() > due.astimezone()
