"""The results of a class's notebooks: those of an earlier run where nothing changed, the others graded now."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from checker.grading.collect.uploads import Handed
from checker.grading.disputes import exercise_in
from checker.grading.judge.submission import DIGITS, Job, points_of
from checker.grading.table.class_folder import Folder
from checker.grading.work import Work
from checker.points.totals import shown

USUAL = 60.0  # seconds in which a notebook runs, where none was graded yet
JUDGED = 10.0  # seconds in which its functions are judged
Grader = Callable[[list[Job]], Iterable[tuple[Job, dict]]]


@dataclass(frozen=True)
class Graded:
    """The result of a notebook. kept: it was there before this run.    changed: a sentence on points that are others now."""

    handed: Handed
    result: dict
    kept: bool = False
    changed: str = ""


def waiting(work: Work, folder: Folder, again: Collection[str] = ()) -> tuple[list[Job], float]:
    """The notebooks that have no result yet, and about how many seconds one of them takes."""
    known = {digest: folder.result(digest) for digest in work.jobs}
    new = [job for digest, (handed, job) in work.jobs.items() if known[digest] is None or handed.student in again]
    took = [result["seconds"] for result in known.values() if result is not None]
    seconds = sum(took) / len(took) if took else USUAL
    return new, JUDGED + seconds if any(job.settings.whole for job in new) else JUDGED


def graded(work: Work, folder: Folder, grader: Grader, again: Collection[str] = ()) -> Iterator[Graded]:
    """The result of every notebook; each new one is kept as soon as it is there.

    Args:
        again: students whose notebooks are graded anew.
    """
    new = []
    for digest, (handed, job) in work.jobs.items():
        result = None if handed.student in again else folder.result(digest)
        if result is None:
            new.append(job)
        else:
            yield Graded(handed, result, kept=True)
    for job, result in grader(new):
        _keep(folder, job, result)
        yield Graded(work.jobs[job.digest][0], result)


def regraded(work: Work, folder: Folder, grader: Grader, exercise: str) -> Iterator[Graded]:
    """Every notebook's result of an earlier run, with one exercise judged anew; in full where there was no earlier one.

    After a check was mended nothing else of the class changes, although the course is another one now.
    """
    earlier = folder.earlier()
    new = []
    alone = {}
    for handed, job in work.jobs.values():
        before = earlier.get(_upload(job))
        if before is None:
            new.append(job)
        elif exercise_in(job.sheet, exercise) is None:
            folder.keep(job.digest, before)
            yield Graded(handed, before, kept=True)
        else:
            functions = replace(job, settings=replace(job.settings, whole=False))
            alone[functions.digest] = (job, before)
            new.append(functions)
    for judged, result in grader(new):
        job, before = alone.get(judged.digest, (judged, None))
        handed = work.jobs[job.digest][0]
        changed = ""
        if before is not None and not result["ungraded"]:
            result, told = _with_anew(before, result, exercise_in(job.sheet, exercise).key)
            changed = told and f"{handed.student}, {job.sheet.name}, {exercise}: {told}"
        if before is None or not result["ungraded"]:
            _keep(folder, job, result)
        yield Graded(handed, result, changed=changed)


def _with_anew(before: dict, now: dict, key: str) -> tuple[dict, str]:
    """An earlier result with one exercise of a newer one, and how its points changed; "" where they did not."""
    new = next(item for item in now["items"] if item["key"] == key)
    by_key = {item["key"]: item for item in before["items"]}
    old = by_key.get(key, {"earned": None})
    items = list((by_key | {key: new}).values())
    was, now_is = ("none yet" if item["earned"] is None else shown(item["earned"]) for item in (old, new))
    told = "" if was == now_is else f"{was} before, {now_is} now."
    return before | {"items": items, "course": now["course"]} | points_of(items), told


def _keep(folder: Folder, job: Job, result: dict) -> None:
    """Keep a result for the runs to come, but one that may be another the next time."""
    if not result.get("passing"):
        folder.keep(job.digest, result | {"upload": _upload(job)})


def _upload(job: Job) -> str:
    """A name for what was handed in and the cases it is judged by, which stays when the course changes."""
    parts = [job.student, job.name, job.text, job.settings.seed, job.settings.whole, *job.modules]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:DIGITS]
