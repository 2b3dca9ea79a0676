"""A class and what it handed in: the first of the steps collect, run, judge, table.

    plan            what was handed in              -> the notebooks to be graded, and what was set aside   (classes.py)
    within          those notebooks                 -> the same, within their limits                        (classes.py)
    graded          those notebooks                 -> their results, kept ones among them                  (results.py)
    lines_of        the results                     -> a line for each student                              (writing.py)
    write_class     the lines and forms             -> table, pages, feedback, gradebooks                   (writing.py)

A notebook is run and judged in `judge/submission.py`.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from checker.grading.box.limits import MEGABYTE
from checker.grading.collect.apart import apart
from checker.grading.collect.roster import Roster
from checker.grading.collect.uploads import (
    NOTHING_DONE,
    Aside,
    Handed,
    collect,
    differ_by_number,
    edition,
    latest,
    undecided,
    unlike,
)
from checker.grading.judge.sheets import Sheet, sheet_for
from checker.grading.judge.submission import Job, Settings
from checker.grading.judge.worked_run import Taken
from checker.grading.table.lateness import Lateness, LateRule
from checker.reading.notebook import Unreadable, parse
from checker.reading.syntax.statements import Modules

ABSENT = "No notebook was handed in."
PERHAPS_ABSENT = (
    "No notebook was found under this name, and of something that was handed in it is not known whose it is."
)


@dataclass(frozen=True)
class Class:
    """A class: keys, roster, how to tell whose a notebook is, and whether pages go without names.

    only_student: the one who handed in everything; "" for a class.    late_rule: None where late days take nothing off.
    assigned: the notebooks that count; none for all.                  rules: a line on these, for the index.
    seconds, megabytes: limits of a whole notebook; None for those of the worked one, times a factor.
    """

    sheets: list[Sheet]
    settings: Settings
    roster: Roster = Roster()
    pattern: str = ""
    due: datetime | None = None
    only_student: str = ""
    anonymous: bool = False
    late_rule: LateRule | None = None
    assigned: tuple[str, ...] = ()
    rules: str = ""
    seconds: float | None = None
    megabytes: float | None = None

    def lateness(self, student: str, days: int | None, late: bool) -> Lateness | None:
        """The late days of a student, and the rule. days: by the platform, None where it says none; late: by its mark."""
        if self.late_rule is None:
            return None
        known = {one.id: one for one in self.roster.students}.get(student)
        if known is not None and known.days_late is not None:
            days = known.days_late
        if days is None and not late:
            days = 0
        free = known.free_days if known is not None and known.free_days is not None else self.late_rule.free
        return Lateness(self.late_rule, days, free)

    def shown(self, student: str) -> str:
        """The name under which a student's pages go."""
        if not self.anonymous:
            return student
        return "student-" + hashlib.sha256(f"{self.settings.seed} {student}".encode()).hexdigest()[:8]


@dataclass
class Work:
    """The work of grading a class: jobs with their students, and the files that were set aside.

    late: students of whom something was late.      missing: those of the roster of whom nothing is known to be there.
    """

    jobs: dict[str, tuple[Handed, Job]]
    aside: list[Aside]
    late: set[str]
    missing: list[str]

    @property
    def absence(self) -> str:
        """The sentence on those who are missing. Nobody is told to be absent while something lies there that may be theirs."""
        return PERHAPS_ABSENT if any(aside.unknown for aside in self.aside) else ABSENT


def plan(paths: list[Path], scratch: Path, this_class: Class) -> Work:
    """The jobs for what was handed in, one for each student and notebook, by the digests of their results.

    Raises:
        Unreadable: one of the paths is not there. (Of an empty class all pages would be deleted.)
    """
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path} is not there. {NOTHING_DONE}")
    found = collect(paths, scratch, this_class.roster, this_class.pattern, this_class.due, this_class.only_student)
    read, unread = _read(found.handed, this_class.sheets)
    aside = [*found.aside, *unread]
    by_notebook: dict[tuple[str, str], list[Upload]] = {}
    for upload in read:
        by_notebook.setdefault((upload.handed.student, upload.sheet.name), []).append(upload)
    jobs: dict[str, tuple[Handed, Job]] = {}
    extra: list[Upload] = []
    for (student, notebook), uploads in by_notebook.items():
        if this_class.assigned and notebook not in this_class.assigned:
            extra += uploads
            continue
        chosen, others = _chosen(uploads)
        aside += others
        if chosen is not None:
            name = this_class.shown(student)
            job = Job(name, chosen.handed.name, chosen.text, chosen.sheet, this_class.settings, chosen.modules)
            jobs[job.digest] = (chosen.handed, job)
    served = {handed.student for handed, _ in jobs.values()}
    aside += [_not_assigned(upload, this_class.assigned, served) for upload in extra]
    late = {handed.student for handed, _ in jobs.values() if handed.late}
    known = served | {one.student for one in aside}
    missing = [student.id for student in this_class.roster.students if student.id not in known]
    return Work(jobs, aside, late, missing)


def within(work: Work, this_class: Class, taken: dict[str, Taken]) -> Work:
    """The same work within the limits of this class. taken: by worked notebooks, by the digests of their sheets."""
    jobs = {}
    for handed, job in work.jobs.values():
        limits = taken[job.sheet.digest].limits if job.sheet.digest in taken else job.settings.limits
        if this_class.seconds is not None:
            limits = replace(limits, wall=this_class.seconds, cpu=max(limits.cpu, 2 * this_class.seconds))
        if this_class.megabytes is not None:
            limits = replace(limits, memory=int(this_class.megabytes * MEGABYTE))
        job = replace(job, settings=replace(job.settings, limits=limits))
        jobs[job.digest] = (handed, job)
    return replace(work, jobs=jobs)


@dataclass(frozen=True)
class Upload:
    """One notebook that was handed in, with its key, its JSON, and the student's own modules beside it."""

    handed: Handed
    sheet: Sheet
    text: str
    modules: Modules


def _read(several: list[Handed], sheets: list[Sheet]) -> tuple[list[Upload], list[Aside]]:
    """The notebooks that can be read and whose key is there, and the others with the reason."""
    read = []
    unread = []
    for handed in several:
        try:
            metadata, text = apart(_opened, handed.file.absolute())  # the process stands in another folder
            modules = tuple((name, file.read_text("utf-8", "replace")) for name, file in handed.modules)
            read.append(Upload(handed, sheet_for({"metadata": metadata}, handed.name, sheets), text, modules))
        except Unreadable as error:
            remark = f"{handed.name} was not graded: {error}"
            unread.append(Aside(handed.place, str(error), handed.student, remark))
    return read, unread


def _chosen(uploads: list[Upload]) -> tuple[Upload | None, list[Aside]]:
    """The latest of a student's uploads of a notebook, None where that is not known, and the others with the reason."""
    several = [upload.handed for upload in uploads]
    notebook = uploads[0].sheet.name
    # lab-1 and lab-2 may be two notebooks. Where their metadata is lost, none is graded rather than the wrong one.
    if len(several) > 1 and differ_by_number(handed.name for handed in several if not edition(handed)):
        return None, [unlike(handed, notebook, several) for handed in several]
    last = latest(several)
    if last is None:
        return None, [undecided(handed, notebook, several) for handed in several]
    reason = f"{last.student} handed in {notebook} under another name too: {last.place} is graded."
    others = [Aside(handed.place, reason) for handed in several if handed is not last]
    return next(upload for upload in uploads if upload.handed is last), others


def _not_assigned(upload: Upload, assigned: tuple[str, ...], served: set[str]) -> Aside:
    """A notebook that does not count, which its student hears where nothing else is graded."""
    handed = upload.handed
    reason = f"{upload.sheet.name} is not assigned: class.yml names {', '.join(assigned)}."
    if handed.student in served:
        return Aside(handed.place, reason)
    return Aside(handed.place, reason, handed.student, f"{handed.name} was not graded: it is not assigned.")


def _opened(file: Path) -> tuple[object, str]:
    """A notebook's metadata, and all of it as JSON of today's format."""
    content = parse(file)
    return content.get("metadata"), json.dumps(content)
