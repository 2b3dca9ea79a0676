"""Workers of a scheduler. A result counts only from a worker with the grader's version of the course and a box of its own.

The grader asks a worker by a function that travels by its name. A worker without such a function has another version of
the course, too.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from socket import gethostname

from checker.grading.box.selection import NoIsolation, choose
from checker.grading.box.walls import Isolation
from checker.grading.judge.one_notebook import Job, course, failed
from checker.reading.notebook import Unreadable

ANOTHER_VERSION = (
    "The worker {} has another version of the course than this machine{}, by which other points may be given. Nothing of"
    " it counts. Bring it to this version, start it again, and call this command again; or stop it."
)
NO_BOX = "The worker {} was given nothing to run: {} Mend that and call this command again, or stop the worker."


def refuse_unfit(client, workers: set[str], kind: str) -> None:
    """Ask workers what they are, before they are given anything. One that ends over the question is passed over.

    Raises:
        Unreadable: one has another version of the course, or no box of this kind; the message names it.
    """
    if not workers:
        return
    for worker, said in client.run(about_this_worker, kind, workers=sorted(workers), on_error="return").items():
        if isinstance(said, OSError):  # its connection ended: its notebooks go to others
            continue
        if isinstance(said, Exception):
            raise Unreadable(ANOTHER_VERSION.format(worker, f" ({type(said).__name__}: {said})"))
        if said["course"] != course():
            raise Unreadable(ANOTHER_VERSION.format(worker, ""))
        if said["no box"]:
            raise Unreadable(NO_BOX.format(worker, said["no box"]))


def about_this_worker(kind: str) -> dict[str, str]:
    """The version of the course here, and the reason why there is no box of a kind; "" where there is one."""
    try:
        isolation_here(kind)
    except NoIsolation as error:
        return {"course": course(), "no box": str(error)}
    return {"course": course(), "no box": ""}


@cache
def isolation_here(kind: str) -> Isolation:
    """The isolation of this kind on this machine, tried once. Raises NoIsolation."""
    return choose(kind)


def graded_here(grade: Callable[[Job], dict], job: Job) -> dict:
    """The result of a notebook, in the box of the machine that this runs on; without one nothing of it runs."""
    try:
        isolation = isolation_here(job.settings.isolation.kind)
    except NoIsolation as error:
        return failed(job, f"The machine {gethostname()} has no box for it: {error}", transient=True)
    return grade(replace(job, settings=replace(job.settings, isolation=isolation)))


def refuse_another_version(result: dict, workers: tuple[str, ...]) -> None:
    """Raises Unreadable for a result of another version, by a worker that came after the others were asked."""
    if result.get("course") != course():
        raise Unreadable(ANOTHER_VERSION.format(" or ".join(workers) or "that was added last", ""))
