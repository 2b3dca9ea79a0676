"""What a class handed in: whose each notebook is, and what cannot be graded as it is, with the reason.

Whose a notebook is, is told by the place where the platform put it, by the roster, or by a pattern; it is never guessed.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath

from checker.check import RENAMED
from checker.findings import one_line
from checker.grading.layouts import METADATA, Sender, metadata, sender
from checker.grading.roster import Roster
from checker.inventory import take
from checker.notebook import Unreadable

NOTEBOOK = ".ipynb"


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


class BadPattern(ValueError):
    """The pattern cannot be used; the message says why."""


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
    asks = _compiled(pattern)
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
        says = sender(entry.inside, submissions)
        student = whose or _student(entry.inside, says, roster, asks)
        if isinstance(student, Unreadable):
            found.aside.append(Aside(place, str(student)))
            continue
        late = says.late or (due is not None and says.handed_in is not None and _after(says.handed_in, due))
        handed = Handed(student, one_line(says.file), entry.file, place, late, says.upload)
        uploads.setdefault((student, says.file), []).append(handed)
    for several in uploads.values():
        _choose(several, found)
    return found


def latest(several: list[Handed]) -> Handed | None:
    """The latest of several uploads, any where all hold the same; None where it is not known which that is."""
    ordered = sorted(several, key=lambda handed: handed.upload)
    undecided_between = [handed for handed in ordered if handed.upload == ordered[-1].upload]
    if len({handed.file.read_bytes() for handed in undecided_between}) > 1:
        return None
    return ordered[-1]


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


def _student(place: PurePath, says: Sender, roster: Roster, asks: re.Pattern | None) -> str | Unreadable:
    """Whose a file is, or why that is not known."""
    names = says.names
    label = says.label
    if asks is not None:
        match = asks.search(place.as_posix())
        if match is None:
            return Unreadable(f"The pattern {asks.pattern!r} is not found in its place {place.as_posix()!r}.")
        names = (match["student"],)
        label = match["student"]
    if not roster.students:
        if names:
            return one_line(label)
        return Unreadable(
            "Whose it is, its place does not say. Put it into a folder with the student's name, or say with --pattern"
            r" which part of the place is the student, such as --pattern '(?P<student>\w+)_dots'."
        )
    ids = roster.find(*names) if names else roster.find(*_parts(place))
    if len(ids) == 1:
        return next(iter(ids))
    known_as = " or ".join(map(repr, names)) or repr(place.as_posix())
    if ids:
        return Unreadable(f"{known_as} may be {' or '.join(sorted(ids))} on the roster. Say who with --pattern.")
    return Unreadable(f"{known_as} is not on the roster. Add the name to the student's line, or use --pattern.")


def _parts(place: PurePath) -> list[str]:
    """The parts of a file's name that may be a name on the roster: "jane_dots.ipynb" as "jane_dots", "jane", "dots"."""
    return [place.stem, *re.split(r"[_\s-]+", place.stem)]


def _after(moment: datetime, due: datetime) -> bool:
    """Whether a moment is after another; without a time zone, both are taken to be in the grader's."""
    return moment.astimezone() > due.astimezone()


def _compiled(pattern: str) -> re.Pattern | None:
    if not pattern:
        return None
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise BadPattern(f"The pattern {pattern!r} is not a regular expression: {error}.") from error
    if "student" not in compiled.groupindex:
        raise BadPattern(f"The pattern {pattern!r} has no group named student: (?P<student>...).")
    return compiled
