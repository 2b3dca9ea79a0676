"""The results of a class's notebooks: those of an earlier run where nothing changed, the others graded now."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from checker.grading.collect.uploads import Submission
from checker.grading.disputes import exercise_in
from checker.grading.judge.one_notebook import DIGITS, Job, points_of
from checker.grading.table.class_folder import Folder
from checker.grading.work import ClassWork, Jobs
from checker.points.totals import shown

USUAL = 60.0  # seconds in which a notebook runs, where none was graded yet
JUDGED = 10.0  # seconds in which its functions are judged
RunJobs = Callable[[list[Job]], Iterable[tuple[Job, dict]]]


@dataclass(frozen=True)
class Graded:
    """The result of a notebook. kept: it was there before this run.    changed: a sentence on its points; "" for none."""

    submission: Submission
    result: dict
    kept: bool = False
    changed: str = ""


def waiting(work: ClassWork, folder: Folder, again: Collection[str] = (), exercise: str = "") -> tuple[int, float]:
    """The number of notebooks that a run grades, and about how many seconds one of them takes.

    exercise: the one that `regraded` judges anew, which runs no notebook whole.
    """
    if exercise:
        return sum(exercise_in(job.worked_notebook, exercise) is not None for _, job in work.jobs), JUDGED
    results = [folder.result(job.digest) for _, job in work.jobs]
    new = [job for (one, job), result in zip(work.jobs, results) if result is None or one.student in again]
    took = [result["seconds"] for result in results if result is not None]
    seconds = sum(took) / len(took) if took else USUAL
    runs_whole = any(job.settings.whole for job in new)
    return len(new), JUDGED + (seconds if runs_whole else 0)


def graded(work: ClassWork, folder: Folder, run_jobs: RunJobs, again: Collection[str] = ()) -> Iterator[Graded]:
    """The result of every notebook: first those of an earlier run where nothing changed, then those that are graded now.

    What is graded now is kept at once, under the job's digest, and comes in the order in which it is done.

    run_jobs: grades jobs, and gives each with its result as it comes.    again: students who are graded anew.
    """
    new = []
    for submission, job in work.jobs:
        result = folder.result(job.digest)
        if result is None or submission.student in again:
            new.append((submission, job))
        else:
            yield Graded(submission, result, kept=True)
    for submission, job, result in ran(new, run_jobs):
        keep(folder, job, result)
        yield Graded(submission, result)


def ran(jobs: Jobs, run_jobs: RunJobs) -> Iterator[tuple[Submission, Job, dict]]:
    """Run jobs; each comes with its result, beside its submission, in the order in which they are done."""
    submissions = {job.digest: submission for submission, job in jobs}
    for job, result in run_jobs([job for _, job in jobs]):
        yield submissions[job.digest], job, result


def regraded(work: ClassWork, folder: Folder, run_jobs: RunJobs, exercise: str) -> Iterator[Graded]:
    """Every notebook's result of an earlier run, with one exercise judged anew; in full where there was no earlier one.

    After a check was mended nothing else of the class changes, although the course is another one now. Where a box
    fails, the earlier result stays.
    """
    earlier = folder.earlier()
    new = []
    functions_only = {}  # by the digest of such a job: the whole one, and its earlier result
    for submission, job in work.jobs:
        before = earlier.get(upload_digest(job))
        if before is None:
            new.append((submission, job))
        elif exercise_in(job.worked_notebook, exercise) is None:
            folder.keep(job.digest, before)
            yield Graded(submission, before, kept=True)
        else:
            functions = replace(job, settings=replace(job.settings, whole=False))
            functions_only[functions.digest] = (job, before)
            new.append((submission, functions))
    for submission, job, result in ran(new, run_jobs):
        job, before = functions_only.get(job.digest, (job, None))
        told = ""
        if before is not None:
            result, told = with_exercise(before, result, exercise_in(job.worked_notebook, exercise).key)
        if result is not before:
            keep(folder, job, result)
        changed = f"{submission.student}, {job.notebook}, {exercise}: {told}" if told else ""
        yield Graded(submission, result, changed=changed)


def with_exercise(before: dict, now: dict, key: str) -> tuple[dict, str]:
    """An earlier result with one exercise of a newer one, and how its points changed; "" where they did not.

    Where a box failed in the newer one, it is the earlier result itself.
    """
    if now["ungraded"]:
        return before, f"not judged anew: {now['ungraded']}"
    new = next(item for item in now["items"] if item["key"] == key)
    by_key = {item["key"]: item for item in before["items"]}
    old = by_key.get(key, {"earned": None})
    items = list((by_key | {key: new}).values())
    points_before, points_now = _points(old), _points(new)
    told = "" if points_before == points_now else f"{points_before} before, {points_now} now."
    return before | {"items": items, "course": now["course"]} | points_of(items), told


def _points(item: dict) -> str:
    return "none yet" if item["earned"] is None else shown(item["earned"])


def keep(folder: Folder, job: Job, result: dict) -> None:
    """Keep a result for the runs to come, but one that failed for a reason that may be gone by then."""
    if not result.get("transient"):  # an earlier version wrote no such line
        folder.keep(job.digest, result | {"upload": upload_digest(job)})


def upload_digest(job: Job) -> str:
    """A name for what was handed in and the cases it is judged by, which stays when the course changes."""
    parts = [job.student, job.name, job.text, job.settings.seed, job.settings.whole, *job.modules]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:DIGITS]
