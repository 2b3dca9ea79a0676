"""The notebooks that a class handed in, each with its student, and those that cannot be graded, with the reason.

Whose a notebook is, is told by the place where the platform put it, by the roster, or by a pattern; it is never guessed.
"""

import hashlib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePath

from checker.editions.identity import recorded
from checker.grading.collect.apart import apart
from checker.grading.collect.attribution import DOUBLE, compiled, owner_of
from checker.grading.collect.platforms import (
    METADATA,
    Sender,
    inside_export,
    metadata,
    naming,
    owner_key,
    senders,
    without_number,
)
from checker.grading.collect.roster import Roster
from checker.reading.inventory import Entry, Skipped, take
from checker.reading.notebook import RENAMED, Unreadable, parse
from checker.reading.slicing.own_modules import MODULE, MOST, why_left
from checker.reading.text import one_line

NOTEBOOK = ".ipynb"
NOTHING_DONE = "Nothing was graded, and nothing of an earlier run was changed."
NUMBERED = re.compile(r"(?P<name>.*?)[-_ ]?(?P<number>\d+)", re.DOTALL)


@dataclass(frozen=True)
class Submission:
    """A file that a student handed in: a notebook, or a module of the student's own.

    name: of the file as it was handed in.   place: where it lay, for people.   file: None once it was read.
    upload: what orders several uploads, later ones larger; () where the platform does not say.
    days_late: begun days after the due date; None where the platform does not say when it was handed in.
    back: the place in a zip from which the platform gives the student a file; "" where it takes none.
    folder: where it lies below what was given.    modules: the student's own beside it, with their names.
    """

    student: str
    name: str
    file: Path | None
    place: str
    late: bool = False
    upload: tuple[int, ...] = ()
    days_late: int | None = None
    back: str = ""
    folder: PurePath = PurePath()
    modules: tuple[tuple[str, Path], ...] = ()


@dataclass(frozen=True)
class Ungraded:
    """A file that is not graded, and why.

    student: who handed it in and has nothing graded in its place; "" where that is not known, or is not so.
    remark: what stands in this student's line and on the feedback, without names.
    unknown: whether it was handed in by nobody knows whom, so that it may be anybody's.
    """

    place: str
    reason: str
    student: str = ""
    remark: str = ""
    unknown: bool = False


@dataclass
class Collected:
    """All that was found."""

    submissions: list[Submission] = field(default_factory=list)
    ungraded: list[Ungraded] = field(default_factory=list)


def collect(
    paths: Iterable[Path],
    scratch: Path,
    roster: Roster = Roster(),
    pattern: str = "",
    due: datetime | None = None,
    only_student: str = "",
) -> Collected:
    """The notebooks of folders and of zips, which are unpacked into `scratch`.

    Args:
        pattern: a regular expression with a group named `student`, looked for in a file's place.
        only_student: the one who handed in everything; "" for a class.

    Raises:
        BadPattern: it is no such expression.
        Unreadable: one of the folders and zips cannot be opened, so that nothing is known of anybody.
    """
    asks = compiled(pattern)
    paths = list(paths)
    gradescope = metadata(paths)
    found = Collected()
    uploads: dict[tuple[str, str], list[Submission]] = {}
    modules: dict[tuple[str, str], list[Submission]] = {}
    unread: list[tuple[Ungraded, Entry | Skipped]] = []
    inventory = take(paths, scratch, owner_key, (MODULE,))
    made = {path: naming(entry.inside for entry in inventory.entries if entry.given == path) for path in paths}

    def owners(entry: Entry | Skipped) -> list[tuple[Sender, str | Unreadable]]:
        """Those who handed in a file, by its place, each with the student who that is, or the reason why nobody knows."""
        several = senders(entry.inside, gradescope, made.get(entry.given))
        return [(says, only_student or owner_of(entry.inside, says, roster, asks)) for says in several]

    for skipped in inventory.skipped:
        # Gradescope's own file was read above, and is nobody's submission.
        if str(inside_export(skipped.inside)) != METADATA:
            unread.append((Ungraded(one_line(skipped.name), f"It is {skipped.reason}."), skipped))
    for entry in inventory.entries:
        place = one_line(entry.name)
        if entry.error is not None:
            if entry.file == entry.given:
                raise Unreadable(f"{place}: {entry.error} {NOTHING_DONE}")
            unread.append((Ungraded(place, str(entry.error), unknown=not entry.inside.name), entry))
            continue
        is_module = entry.file.suffix == MODULE
        if not is_module and not entry.file.name.lower().endswith((NOTEBOOK, RENAMED)):
            unread.append((Ungraded(place, "It is not a notebook (.ipynb)."), entry))
            continue
        members = set()
        for says, student in owners(entry):
            if isinstance(student, Unreadable):
                found.ungraded.append(Ungraded(place, str(student), unknown=True))
            # A group may name a member twice.
            elif student not in members:
                members.add(student)
                days = _days_late(says.handed_in, due)
                late = says.late or bool(days)
                # Nothing is imported by a name with a number and a dash, so that Canvas added it.
                name = one_line(is_module and without_number(says.file) or says.file)
                folder = entry.inside.parent
                submission = Submission(student, name, entry.file, place, late, says.upload, days, says.back, folder)
                if is_module:
                    modules.setdefault((student, str(folder / name)), []).append(submission)
                else:
                    uploads.setdefault((student, says.file), []).append(submission)
    for several in _with_numbered(uploads):
        _choose(several, found)
    of_a_class = bool(roster.students or only_student)
    _take_modules_along(modules.values(), found, of_a_class)
    # A student hears of a file that could not be read, unless another one of theirs is graded in its place.
    served = {submission.student for submission in found.submissions}
    for file, part in unread:
        told = owners(part) if of_a_class and part.inside.name else []
        says, student = next((pair for pair in told if isinstance(pair[1], str)), (None, ""))
        if student and (student not in served or NOTEBOOK in part.inside.name.lower()):
            file = replace(file, student=student, remark=f"{one_line(says.file)} was not graded: {file.reason}")
        found.ungraded.append(replace(file, unknown=file.unknown or bool(part.inside.name and not student)))
    return found


def _with_numbered(uploads: dict[tuple[str, str], list[Submission]]) -> list[list[Submission]]:
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


def edition(submission: Submission) -> dict:
    """The exercises that a notebook's metadata names; none where it is no notebook."""
    try:
        return apart(_recorded, submission.file.absolute())
    except Unreadable:
        return {}


def _recorded(file: Path) -> dict:
    return recorded(parse(file))


def _take_modules_along(uploads: Iterable[list[Submission]], found: Collected, of_a_class: bool) -> None:
    """Give each notebook the modules of its student that lie beside it. Any other is set aside, with the reason.

    of_a_class: whether it is known who is a student, who then hears of it where nothing else was handed in.
    """
    modules = Collected()
    for several in uploads:
        _choose(several, modules)
    found.ungraded += modules.ungraded
    beside: dict[tuple[str, PurePath], list[tuple[str, Path]]] = {}
    notebooks = {(submission.student, submission.folder) for submission in found.submissions}
    served = {submission.student for submission in found.submissions}
    for module in modules.submissions:
        place = (module.student, module.folder)
        taken = beside.setdefault(place, [])
        reason = "It is not a notebook (.ipynb)."
        if place in notebooks:
            reason = why_left(module.name, module.file.stat().st_size)
            if not reason and len(taken) == MOST:
                reason = f"It is one of more than {MOST} modules beside a notebook, and only these are taken along."
        if not reason:
            taken.append((module.name, module.file))
        elif of_a_class and module.student not in served:
            remark = f"{module.name} was not graded: {reason}"
            found.ungraded.append(Ungraded(module.place, reason, module.student, remark))
        else:
            found.ungraded.append(Ungraded(module.place, reason))
    found.submissions = [
        replace(one, modules=tuple(beside.get((one.student, one.folder), ()))) for one in found.submissions
    ]


def _digest(file: Path) -> bytes:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def latest(several: list[Submission]) -> Submission | None:
    """The latest of several uploads, any where all hold the same; None where it is not known which that is."""
    ordered = sorted(several, key=lambda submission: submission.upload)
    undecided_between = [submission for submission in ordered if submission.upload == ordered[-1].upload]
    if len({_digest(submission.file) for submission in undecided_between}) > 1:
        return None
    return ordered[-1]


def differ_by_number(names: Iterable[str]) -> bool:
    """True if names differ in nothing but a number and so may be of different notebooks: lab-1.ipynb, lab-2.ipynb."""
    numbered = [NUMBERED.fullmatch(DOUBLE.sub("", PurePath(name).stem)) for name in names]
    found = {(match["name"].lower(), int(match["number"])) for match in numbered if match}
    return len({name for name, _ in found}) < len(found)


def unlike(submission: Submission, notebook: str, several: list[Submission]) -> Ungraded:
    """One of several uploads that may be one notebook or different ones, set aside with that reason; see `differ_by_number`."""
    others = ", ".join(other.place for other in several if other is not submission)
    lost = "do not say which notebook they are: their metadata was lost"
    reason = f"This and {others} {lost}. Leave the one that is {notebook}, and name others as theirs are called."
    remark = f"{submission.name} was not graded: several files {lost}."
    return Ungraded(submission.place, reason, submission.student, remark)


def undecided(submission: Submission, notebook: str, several: list[Submission]) -> Ungraded:
    """One of several uploads of a notebook, none of them known to be the latest, set aside with that reason."""
    others = ", ".join(other.place for other in several if other is not submission)
    twice = "twice, and which is the later one is not known"
    reason = f"{submission.student} handed in {notebook} {twice}: {others}. Leave one."
    return Ungraded(submission.place, reason, submission.student, f"{notebook} was handed in {twice}.")


def _choose(several: list[Submission], found: Collected) -> None:
    """Choose the latest of a student's uploads of one file. None is graded where it is not known which is the latest."""
    chosen = latest(several)
    if chosen is not None:
        found.submissions.append(chosen)
    for submission in several:
        if chosen is None:
            found.ungraded.append(undecided(submission, submission.name, several))
        elif submission is not chosen:
            reason = f"{submission.student} handed it in again: {chosen.place} is graded."
            found.ungraded.append(Ungraded(submission.place, reason))


def _days_late(moment: datetime | None, due: datetime | None) -> int | None:
    """The begun days between two moments, 0 where it is in time; without a time zone, both are taken to be in the grader's."""
    if moment is None or due is None:
        return None
    return max(0, math.ceil((moment.astimezone() - due.astimezone()) / timedelta(days=1)))
