"""The work of grading a class: what was handed in, as notebooks to be graded, each within its limits.

`collected` finds the notebooks (`collect/uploads.py`), reads them, and chooses those that count. For instance:

    handed in, by the names that Canvas gives files    becomes
    ann_LATE_11_502_mine.ipynb                         a job: ann's dots.ipynb, late
    ann_11_501_dots.ipynb                              ungraded: the later one is graded
    bob_12_503_notes.txt                               ungraded: it is not a notebook
    nothing of cy, who is on the class list            missing
"""

import json
import tempfile
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
from checker.grading.judge.worked_run import measure, measured
from checker.grading.table.rules import Rules
from checker.reading.notebook import Unreadable, parse

ABSENT = "No notebook was handed in."
PERHAPS_ABSENT = (
    "No notebook was found under this name. Of a file that was handed in it is not known whose it is: it may be this"
    " student's."
)
Jobs = list[tuple[Submission, Job]]  # each beside the submission that it was made of


@dataclass(frozen=True)
class ClassWork:
    """The work of grading a class: a job for each student and notebook, and the files that are not graded.

    missing: those of the roster of whom nothing is known to be there.
    """

    jobs: Jobs
    ungraded: list[Ungraded]
    missing: list[str]

    @property
    def students(self) -> set[str]:
        """Those of whom a notebook is graded."""
        return {submission.student for submission, _ in self.jobs}

    @property
    def late(self) -> set[str]:
        """Those of whom something was late."""
        return {submission.student for submission, _ in self.jobs if submission.late}

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
        Unreadable: one of the paths is not there. A run without its notebooks would delete the pages of their students.
    """
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path} is not there. {NOTHING_DONE}")
    rules, roster = this_class.rules, this_class.roster
    with tempfile.TemporaryDirectory() as scratch:
        found = collect(paths, Path(scratch), roster, rules.pattern, rules.due, this_class.only_student)
        read, unreadable = read_jobs(found.submissions, this_class)
        assigned = [(submission, job) for submission, job in read if rules.assigns(job.notebook)]
        counted, others = latest_of_each(assigned)
    jobs = [(replace(submission, file=None, modules=()), job) for submission, job in counted]  # these files are gone
    ungraded = [*found.ungraded, *unreadable, *others, *not_assigned(read, jobs, rules)]
    known = {submission.student for submission, _ in jobs} | {one.student for one in ungraded}
    missing = [student.id for student in roster.students if student.id not in known]
    return ClassWork(jobs, ungraded, missing)


def read_jobs(submissions: list[Submission], this_class: Class) -> tuple[Jobs, list[Ungraded]]:
    """The jobs of the submissions that are notebooks of this class, and the other files with the reason."""
    jobs = []
    unreadable = []
    for submission in submissions:
        try:
            jobs.append((submission, job_of(submission, this_class)))
        except Unreadable as error:
            remark = f"{submission.name} was not graded: {error}"
            unreadable.append(Ungraded(submission.place, str(error), submission.student, remark))
    return jobs, unreadable


def job_of(submission: Submission, this_class: Class) -> Job:
    """The job of grading a submission, with the usual limits.

    Raises:
        Unreadable: it is no notebook, or not one of this class.
    """
    metadata, text = apart(_opened, submission.file.absolute())  # the process stands in another folder
    modules = tuple((name, file.read_text("utf-8", "replace")) for name, file in submission.modules)
    worked = worked_notebook_for({"metadata": metadata}, submission.name, this_class.worked_notebooks)
    student = this_class.pseudonym_of(submission.student)
    return Job(student, submission.name, text, worked, this_class.settings, modules)


def _opened(file: Path) -> tuple[object, str]:
    """A notebook's metadata, and all of it as JSON of today's format."""
    content = parse(file)
    return content.get("metadata"), json.dumps(content)


def latest_of_each(jobs: Jobs) -> tuple[Jobs, list[Ungraded]]:
    """The job of each student and notebook that was handed in last, and the other files with the reason."""
    together: dict[tuple[str, str], Jobs] = {}
    for submission, job in jobs:
        together.setdefault((submission.student, job.notebook), []).append((submission, job))
    counted = []
    ungraded = []
    for (_, notebook), several in together.items():
        chosen, others = choose([submission for submission, _ in several], notebook)
        counted += [(submission, job) for submission, job in several if submission is chosen]
        ungraded += others
    return counted, ungraded


def choose(several: list[Submission], notebook: str) -> tuple[Submission | None, list[Ungraded]]:
    """The latest of a student's uploads of a notebook, None where that is not known, and the others with the reason."""
    # lab-1 and lab-2 may be two notebooks. Where their metadata is lost, none is graded rather than the wrong one.
    if len(several) > 1 and differ_by_number(submission.name for submission in several if not edition(submission)):
        return None, [unlike(submission, notebook, several) for submission in several]
    last = latest(several)
    if last is None:
        return None, [undecided(submission, notebook, several) for submission in several]
    reason = f"{last.student} handed in {notebook} under another name too: {last.place} is graded."
    return last, [Ungraded(submission.place, reason) for submission in several if submission is not last]


def not_assigned(read: Jobs, graded: Jobs, rules: Rules) -> list[Ungraded]:
    """The notebooks that class.yml does not name. Their students hear of them where nothing else of theirs is graded."""
    served = {submission.student for submission, _ in graded}
    ungraded = []
    for submission, job in read:
        if rules.assigns(job.notebook):
            continue
        reason = f"{job.notebook} is not assigned: class.yml names {', '.join(rules.notebooks)}."
        if submission.student in served:
            ungraded.append(Ungraded(submission.place, reason))
        else:
            remark = f"{submission.name} was not graded: it is not assigned."
            ungraded.append(Ungraded(submission.place, reason, submission.student, remark))
    return ungraded


def measure_limits(work: ClassWork, this_class: Class, place: Path, threads: int) -> None:
    """Run the worked notebooks where the limits depend on what they take and that is not known yet; say what it was.

    place: the file that keeps what they take.    threads: how many of them run at once.
    """
    if this_class.needs_measuring:
        handed_in = {job.notebook: job.worked_notebook for _, job in work.jobs}
        measure(handed_in.values(), this_class.settings, place, threads, print)


def with_limits(work: ClassWork, this_class: Class, place: Path) -> ClassWork:
    """The same work with limits on time and memory: from class.yml, else a multiple of what the worked notebook takes.

    place: the file of `measure_limits`. What it does not know has the usual limits.
    """
    known = {}
    if this_class.needs_measuring:
        several = this_class.worked_notebooks
        known = {worked.name: measured(worked, this_class.settings, place).limits for worked in several}
    jobs = []
    for submission, job in work.jobs:
        limits = limits_by_rules(known.get(job.notebook, job.limits), this_class.rules)
        jobs.append((submission, replace(job, limits=limits)))
    return replace(work, jobs=jobs)


def limits_by_rules(limits: Limits, rules: Rules) -> Limits:
    """The limits with those that class.yml sets."""
    if rules.seconds is not None:
        limits = replace(limits, wall=rules.seconds, cpu=max(limits.cpu, 2 * rules.seconds))
    if rules.megabytes is not None:
        limits = replace(limits, memory=int(rules.megabytes * MEGABYTE))
    return limits
