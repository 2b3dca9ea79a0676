"""Grading many notebooks: one after the other, or in threads of this process.

Threads are enough, since what takes long runs in boxes, which are processes. Every result is handed on, and written
down, as soon as it is there, so whatever ends costs no result.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from socket import gethostname

from checker.grading.box import isolation
from checker.grading.box.isolation import BoxFailed
from checker.grading.collect.apart import TooMuch
from checker.grading.judge.submission import Job, failed, forget_references, grade

AGAIN = "The next run tries it again."


def in_this_process(jobs: Iterable[Job]) -> Iterator[tuple[Job, dict]]:
    """Grade one notebook after the other."""
    for job in jobs:
        yield job, _graded(job)


def in_threads(jobs: Iterable[Job], threads: int) -> Iterator[tuple[Job, dict]]:
    """Grade so many notebooks at once, in the order in which they are done.

    Who stops asking for results, by Ctrl-C, say, ends the boxes that run.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        running = {pool.submit(_graded, job): job for job in jobs}
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        isolation.stopping.set()
        pool.shutdown(cancel_futures=True)
        isolation.stopping.clear()


def _graded(job: Job) -> dict:
    """Grade a notebook; one that the grader itself stumbles over is reported, and takes none of the others with it."""
    try:
        return grade(job)
    except BoxFailed as error:
        reason = f"{error} That is a fault of the machine {gethostname()}, not of the notebook. {AGAIN}"
        return failed(job, reason, transient=True)
    except TooMuch as error:
        return failed(job, f"{error} It was not tried again: --again does.")
    except Exception as error:
        forget_references()
        reason = f"The grader stumbled over this notebook ({type(error).__name__}: {error}). Look at it by hand."
        return failed(job, f"{reason} {AGAIN}", transient=True)
