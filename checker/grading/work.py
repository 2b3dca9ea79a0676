"""The work of grading a class: what was handed in, as notebooks to be graded, each within its limits.

`collected` reads what lies there, chooses what counts, sets the rest aside with a reason, and lists who is missing:

    handed in, by the names that Canvas gives files    becomes
    ann_LATE_11_502_mine.ipynb                         a job: ann's dots.ipynb, late
    ann_11_501_dots.ipynb                              set aside: the later one is graded
    bob_12_503_notes.txt                               set aside: it is not a notebook
    nothing of cy, who is on the class list            missing
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from checker.grading.box.limits import MEGABYTE, Limits
from checker.grading.classes import Class
from checker.grading.collect.apart import apart
from checker.grading.collect.uploads import (
    NOTHING_DONE,
    Submission,
    Ungraded,
    collect,
    differ_by_number,
    edition,
    latest,
    undecided,
    unlike,
)
from checker.grading.judge.one_notebook import Job
from checker.grading.judge.worked_notebooks import worked_notebook_for
from checker.grading.judge.worked_run import taken_by
from checker.grading.table.rules import Rules
from checker.reading.notebook import Unreadable, parse

ABSENT = "No notebook was handed in."
PERHAPS_ABSENT = (
    "No notebook was found under this name. Of a file that was handed in it is not known whose it is: it may be this"
    " student's."
)


@dataclass(frozen=True)
class ClassWork:
    """The work of grading a class: jobs, each beside the file it was made of, and the files that were set aside.

    jobs: by their digests.    missing: those of the roster of whom nothing is known to be there.
    """

    jobs: dict[str, tuple[Submission, Job]]
    ungraded: list[Ungraded]
    missing: list[str]

    @property
    def students(self) -> set[str]:
        """Those of whom a notebook is graded."""
        return {submission.student for submission, _ in self.jobs.values()}

    @property
    def late(self) -> set[str]:
        """Those of whom something was late."""
        return {submission.student for submission, _ in self.jobs.values() if submission.late}

    @property
    def has_unclaimed(self) -> bool:
        """True where something was handed in of which nobody knows whose it is."""
        return any(one.unknown for one in self.ungraded)

    @property
    def absence(self) -> str:
        """The sentence on those who are missing. Nobody is told to be absent while something lies there that may be theirs."""
        return PERHAPS_ABSENT if self.has_unclaimed else ABSENT


def collected(paths: list[Path], this_class: Class) -> ClassWork:
    """The work that was handed in: one job for each student and notebook.

    Raises:
        Unreadable: one of the paths is not there. (Of an empty class all pages would be deleted.)
    """
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path} is not there. {NOTHING_DONE}")
    rules = this_class.rules
    with tempfile.TemporaryDirectory() as scratch:
        found = collect(paths, Path(scratch), this_class.roster, rules.pattern, rules.due, this_class.only_student)
        read, unread = _read(found.submissions, this_class)
        counted, not_counted = _counted(read, rules.notebooks)
    ungraded = [*found.ungraded, *unread, *not_counted]
    jobs = {job.digest: (submission, job) for submission, job in counted}
    known = {submission.student for submission, _ in counted} | {one.student for one in ungraded}
    missing = [student.id for student in this_class.roster.students if student.id not in known]
    return ClassWork(jobs, ungraded, missing)


def with_limits(
    work: ClassWork, this_class: Class, place: Path, threads: int = 0, tell: Callable[[str], None] = print
) -> ClassWork:
    """The same work with limits on time and memory: from class.yml, else a multiple of what the worked notebook takes.

    Args:
        place: the file that keeps what worked notebooks take.
        threads: how many of them run at once where that is not known yet; 0: none runs, and the usual limits hold.
        tell: is given a sentence on each that runs.
    """
    rules = this_class.rules
    measured = {}  # by the worked notebook's digest
    if this_class.settings.whole and None in (rules.seconds, rules.megabytes):
        worked_notebooks = {job.worked_notebook.digest: job.worked_notebook for _, job in work.jobs.values()}.values()
        measured = taken_by(worked_notebooks, this_class.settings, place, threads, tell)
    jobs = {}
    for submission, job in work.jobs.values():
        limits = job.limits
        if job.worked_notebook.digest in measured:
            limits = measured[job.worked_notebook.digest].limits
        job = replace(job, limits=_by_rules(limits, rules))
        jobs[job.digest] = (submission, job)
    return replace(work, jobs=jobs)


def _by_rules(limits: Limits, rules: Rules) -> Limits:
    """The limits with those that class.yml sets."""
    if rules.seconds is not None:
        limits = replace(limits, wall=rules.seconds, cpu=max(limits.cpu, 2 * rules.seconds))
    if rules.megabytes is not None:
        limits = replace(limits, memory=int(rules.megabytes * MEGABYTE))
    return limits


def _read(several: list[Submission], this_class: Class) -> tuple[list[tuple[Submission, Job]], list[Ungraded]]:
    """The jobs of the files that are notebooks of this class, each beside its file, and the others with the reason."""
    read = []
    unread = []
    for submission in several:
        try:
            metadata, text = apart(_opened, submission.file.absolute())  # the process stands in another folder
            modules = tuple((name, file.read_text("utf-8", "replace")) for name, file in submission.modules)
            worked = worked_notebook_for({"metadata": metadata}, submission.name, this_class.worked_notebooks)
            student = this_class.pseudonym_of(submission.student)
            read.append((submission, Job(student, submission.name, text, worked, this_class.settings, modules)))
        except Unreadable as error:
            remark = f"{submission.name} was not graded: {error}"
            unread.append(Ungraded(submission.place, str(error), submission.student, remark))
    return read, unread


def _opened(file: Path) -> tuple[object, str]:
    """A notebook's metadata, and all of it as JSON of today's format."""
    content = parse(file)
    return content.get("metadata"), json.dumps(content)


def _counted(
    read: list[tuple[Submission, Job]], assigned: tuple[str, ...]
) -> tuple[list[tuple[Submission, Job]], list[Ungraded]]:
    """The job of each student and assigned notebook that counts, and the other files with the reason.

    assigned: names of notebooks; none where all are.
    """
    together: dict[tuple[str, str], list[tuple[Submission, Job]]] = {}
    extra = []
    for submission, job in read:
        if assigned and job.notebook not in assigned:
            extra.append((submission, job))
        else:
            together.setdefault((submission.student, job.notebook), []).append((submission, job))
    counted = []
    ungraded = []
    for (_, notebook), several in together.items():
        latest_one, others = _latest([submission for submission, _ in several], notebook)
        counted += [(submission, job) for submission, job in several if submission is latest_one]
        ungraded += others
    served = {submission.student for submission, _ in counted}
    return counted, ungraded + [_not_assigned(submission, job.notebook, assigned, served) for submission, job in extra]


def _latest(several: list[Submission], notebook: str) -> tuple[Submission | None, list[Ungraded]]:
    """The latest of a student's uploads of a notebook, None where that is not known, and the others with the reason."""
    # lab-1 and lab-2 may be two notebooks. Where their metadata is lost, none is graded rather than the wrong one.
    if len(several) > 1 and differ_by_number(submission.name for submission in several if not edition(submission)):
        return None, [unlike(submission, notebook, several) for submission in several]
    last = latest(several)
    if last is None:
        return None, [undecided(submission, notebook, several) for submission in several]
    reason = f"{last.student} handed in {notebook} under another name too: {last.place} is graded."
    return last, [Ungraded(submission.place, reason) for submission in several if submission is not last]


def _not_assigned(submission: Submission, notebook: str, assigned: tuple[str, ...], served: set[str]) -> Ungraded:
    """A notebook that does not count, which its student hears where nothing else is graded."""
    reason = f"{notebook} is not assigned: class.yml names {', '.join(assigned)}."
    if submission.student in served:
        return Ungraded(submission.place, reason)
    return Ungraded(
        submission.place, reason, submission.student, f"{submission.name} was not graded: it is not assigned."
    )
