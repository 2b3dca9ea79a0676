"""The results of a class's notebooks: those of an earlier run where nothing changed, the others graded now."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from checker.grading.classes import Work
from checker.grading.collect.uploads import Handed
from checker.grading.disputes import exercise_in
from checker.grading.judge.submission import DIGITS, Job, points_of
from checker.grading.table.class_folder import Folder
from checker.points.totals import shown

USUAL = 60.0  # seconds in which a notebook runs, where none was graded yet
JUDGED = 10.0  # seconds in which its functions are judged
Grader = Callable[[list[Job]], Iterable[tuple[Job, dict]]]


def waiting(work: Work, folder: Folder, again: Iterable[str] = ()) -> tuple[list[Job], float]:
    """The notebooks that have no result yet, and about how many seconds one of them takes."""
    known = {digest: folder.result(digest) for digest in work.jobs}
    new = [job for digest, (handed, job) in work.jobs.items() if known[digest] is None or handed.student in again]
    took = [result["seconds"] for result in known.values() if result is not None]
    seconds = sum(took) / len(took) if took else USUAL
    return new, JUDGED + seconds if any(job.settings.whole for job in new) else JUDGED


def graded(
    work: Work, folder: Folder, grader: Grader, again: Iterable[str] = ()
) -> Iterator[tuple[Handed, dict, bool]]:
    """Every notebook's result, and whether it was there already; each new one is kept as soon as it is there.

    Args:
        again: students whose notebooks are graded anew.
    """
    again = set(again)
    waiting = []
    for digest, (handed, job) in work.jobs.items():
        result = None if handed.student in again else folder.result(digest)
        if result is None:
            waiting.append(job)
        else:
            yield handed, result, True
    for job, result in grader(waiting):
        _keep(folder, job, result)
        yield work.jobs[job.digest][0], result, False


def regraded(
    work: Work, folder: Folder, grader: Grader, exercise: str, changed: list[str]
) -> Iterator[tuple[Handed, dict, bool]]:
    """Every notebook's result of an earlier run, with one exercise judged anew; in full where there was no earlier one.

    After a check was mended nothing else of the class changes, although the course is another one now.

    Args:
        changed: takes a sentence for each student whose points are others now.
    """
    earlier = folder.earlier()
    waiting = []
    alone = {}
    for handed, job in work.jobs.values():
        before = earlier.get(_upload(job))
        if before is None:
            waiting.append(job)
        elif exercise_in(job.sheet, exercise) is None:
            folder.keep(job.digest, before)
            yield handed, before, True
        else:
            functions = replace(job, settings=replace(job.settings, whole=False))
            alone[functions.digest] = (job, before)
            waiting.append(functions)
    for judged, result in grader(waiting):
        job, before = alone.get(judged.digest, (judged, None))
        handed = work.jobs[job.digest][0]
        if before is not None and result["ungraded"]:
            yield handed, result, False
            continue
        if before is not None:
            item = exercise_in(job.sheet, exercise)
            result, told = _with_anew(before, result, item.key)
            changed += [f"{handed.student}, {job.sheet.name}, {exercise}: {told}"] if told else []
        _keep(folder, job, result)
        yield handed, result, False


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
