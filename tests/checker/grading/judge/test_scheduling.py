"""The order in which notebooks are graded, and what is made of one that fails."""

import threading
from contextlib import contextmanager
from socket import gethostname
from types import SimpleNamespace

import pytest

from checker.grading.box import isolation
from checker.grading.box.isolation import BoxFailed
from checker.grading.judge import scheduling
from checker.grading.judge.scheduling import in_this_process, in_threads

JOBS = [SimpleNamespace(student=name, digest=name) for name in ("ann", "bob", "cy", "dan")]
EACH = [(job.student, {"graded": job.student}) for job in JOBS]


@pytest.fixture
def grading(monkeypatch):
    """Grade by this function; what was reported of failures, and whether the key was forgotten."""
    noted = SimpleNamespace(failed=[], forgotten=0)

    def forget():
        noted.forgotten += 1

    @contextmanager
    def by(function):
        with monkeypatch.context() as patch:
            patch.setattr(scheduling, "grade", function)
            patch.setattr(scheduling, "forget_references", forget)
            patch.setattr(
                scheduling, "failed", lambda *given, **options: noted.failed.append((given, options)) or {"failed": 1}
            )
            yield noted

    return by


def test_a_notebook_that_fails_takes_none_of_the_others_with_it(grading):
    """Catches a night's work lost at the first notebook that the grader stumbles over, and a box's failure called that."""

    def stumbles(job):
        if job.student == "bob":
            raise BoxFailed("The box burst.")
        if job.student == "cy":
            raise KeyError("x")
        return {"graded": job.student}

    with grading(stumbles) as noted:
        found = [(job.student, result) for job, result in in_this_process(JOBS)]
    assert found == [EACH[0], ("bob", {"failed": 1}), ("cy", {"failed": 1}), EACH[3]]
    again = "The next run tries it again."
    box = f"The box burst. That is a fault of the machine {gethostname()}, not of the notebook. {again}"
    other = f"The grader stumbled over this notebook (KeyError: 'x'). Look at it by hand. {again}"
    assert noted.failed == [((JOBS[1], box), {"transient": True}), ((JOBS[2], other), {"transient": True})]
    assert noted.forgotten == 1, "the key may have ended, where it was no box"


def test_threads_grade_at_once_and_stop_together(grading):
    """Catches one after the other, a result of another notebook, and boxes that run on when nobody waits for them."""
    together = threading.Barrier(2)
    stopped = []

    def waits(job):
        if job.student in ("cy", "dan"):
            stopped.append(isolation.stopping.wait(10))
        else:
            together.wait(timeout=20)
        return {"graded": job.student}

    with grading(waits):
        results = in_threads(JOBS, 2)
        first, second = next(results), next(results)
        assert sorted((job.student, result) for job, result in (first, second)) == EACH[:2]
        results.close()
    assert all(stopped) and not isolation.stopping.is_set()
    with grading(lambda job: {"graded": job.student}):
        assert sorted((job.student, result) for job, result in in_threads(JOBS, 3)) == EACH


def test_what_was_not_begun_is_not_begun_after_a_stop(grading):
    """Catches Ctrl-C after which the rest of the class is graded all the same."""
    begun = []

    def grade(job):
        begun.append(job.student)
        if len(begun) > 1:
            isolation.stopping.wait(10)
        return {"graded": job.student}

    with grading(grade):
        results = in_threads([*JOBS, *JOBS], 1)
        next(results)
        results.close()
    assert len(begun) <= 2
