"""The order in which notebooks are graded, and what is made of one that fails; a stand-in for dask says what it does.

That dask does so is tried with its own processes in test_many_machines.py.
"""

import asyncio
import sys
import threading
from contextlib import contextmanager
from socket import gethostname
from types import ModuleType, SimpleNamespace

import pytest

from checker.grading.box import isolation
from checker.grading.box.isolation import BoxFailed
from checker.grading.box.walls import Isolation
from checker.grading.judge import scheduling
from checker.grading.judge.one_notebook import Settings
from checker.grading.judge.scheduling import in_this_process, in_threads, on_workers
from checker.reading.notebook import Unreadable

SETTINGS = Settings(7, Isolation("bwrap"))
JOBS = [SimpleNamespace(student=name, digest=name, settings=SETTINGS) for name in ("ann", "bob", "cy", "dan")]
HOME = "tcp://127.0.0.1:8786"
LOST = "The scheduler was lost ({}). What is graded is kept: run it again."


class KilledWorker(Exception):
    """Stands for dask's."""


class Future:
    """Stands for dask's: it is `pending` for so many looks."""

    def __init__(self, key, result, status="finished", looks=0):
        self.key, self.given, self.then, self.looks = key, result, status, looks
        self.released = False

    @property
    def status(self):
        self.looks -= 1
        return self.then if self.looks < 0 else "pending"

    def result(self):
        return self.given

    def exception(self):
        return self.given

    def release(self):
        self.released = True


class Client:
    """Stands for dask's: `at` are its workers' threads, one dict for each question and then the last."""

    def __init__(self, *at, **made_as):
        self.at = list(at)
        self.made_as = made_as
        self.futures = {}
        self.submitted = []
        self.on_scheduler = []
        self.waited = []
        self.left = False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = True

    def nthreads(self):
        found = self.at.pop(0) if len(self.at) > 1 else self.at[0]
        if isinstance(found, Exception):
            raise found
        return found

    def submit(self, *arguments, key, pure):
        self.submitted.append((arguments, key, pure))
        student = arguments[-1].student
        return self.futures.setdefault(student, Future(key, {"graded": student}))

    def who_has(self, futures):
        (future,) = futures
        return {future.key: ["tcp://a", "tcp://b"]}

    def run_on_scheduler(self, function):
        self.on_scheduler.append(function)

    def wait_for_workers(self, count, timeout):
        self.waited.append((count, timeout))


@pytest.fixture
def dask(monkeypatch):
    """Put a module in dask's place, and note what workers and results were asked. Its client is `dask.client`."""
    module = ModuleType("distributed")
    module.client = Client({"a": 1})
    module.waits = []
    module.made = []
    module.fit = []
    module.versions = []

    def made(address, **options):
        module.made.append((address, options))
        return module.client

    def wait(futures, timeout, return_when):
        module.waits.append((len(futures), timeout, return_when))

    module.Client, module.wait = made, wait
    module.scheduler = ModuleType("distributed.scheduler")
    module.scheduler.KilledWorker = KilledWorker
    module.security = ModuleType("distributed.security")
    module.security.Security = lambda **files: files
    for name in ("scheduler", "security"):
        monkeypatch.setitem(sys.modules, f"distributed.{name}", getattr(module, name))
    monkeypatch.setitem(sys.modules, "distributed", module)
    monkeypatch.setattr(scheduling, "find_spec", lambda name: name == "distributed" or None)
    monkeypatch.setattr(
        scheduling, "refuse_unfit", lambda client, names, kind: module.fit.append((client, set(names), kind))
    )
    monkeypatch.setattr(
        scheduling, "refuse_another_version", lambda result, names: module.versions.append((result, names))
    )
    return module


def graded(*options):
    return [(job.student, result) for job, result in on_workers(JOBS, *(options or (HOME,)))]


EACH = [(job.student, {"graded": job.student}) for job in JOBS]


def test_every_notebook_is_graded_once_by_whoever_is_free(dask):
    """Catches a notebook given out twice, or to nobody, and more of them at once than there are threads."""
    assert graded() == EACH
    expected = [((scheduling.graded_here, scheduling._graded, job), f"grade-{job.digest}", False) for job in JOBS]
    assert dask.client.submitted == expected, "each with a key of its own, and never from a cache of dask's"
    assert dask.waits == [(1, 2, "FIRST_COMPLETED")] * 4
    assert all(future.released for future in dask.client.futures.values()) and dask.client.left
    assert dask.versions == [({"graded": name}, ("tcp://a", "tcp://b")) for name, _ in EACH]


def test_as_many_are_given_out_as_there_are_threads(dask):
    """Catches a machine of two cores that grades one at a time, and a queue at one that is about to end."""
    dask.client.at = [{"a": 1, "b": 1}]
    dask.client.futures = {"ann": Future("x", {"graded": "ann"}, looks=4)}
    assert [name for name, _ in graded()] == ["bob", "cy", "dan", "ann"]
    assert [count for count, *_ in dask.waits] == [2, 2, 2, 1, 1]


def test_without_a_worker_one_is_given_out_to_the_next(dask):
    """Catches a grader that divides by the workers it has lost, and waits for nobody."""
    dask.client.at = [{}]
    assert graded() == EACH and {count for count, *_ in dask.waits} == {1}


def test_each_worker_is_asked_once_before_it_gets_work(dask):
    """Catches a worker that joined later and is given work unasked, and one that is asked again and again."""
    dask.client.at = [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}]
    graded()
    assert dask.fit[:2] == [(dask.client, {"a"}, "bwrap"), (dask.client, {"b"}, "bwrap")]
    assert not any(names for _, names, _ in dask.fit[2:])


def test_a_moment_without_a_result_is_waited_on(dask, monkeypatch):
    """Catches a time-out of the wait taken for the end of the scheduler."""
    for error in (asyncio.TimeoutError, asyncio.CancelledError, scheduling.CancelledError):

        def wait(futures, timeout, return_when, error=error):
            raise error

        monkeypatch.setattr(dask, "wait", wait)
        dask.client = Client({"a": 1})
        assert graded() == EACH


@pytest.mark.parametrize("status", ["lost", "cancelled", "error"])
def test_a_lost_scheduler_is_said(status, dask):
    """Catches a traceback, and a student who is blamed for a scheduler that ended."""
    dask.client.futures = {"ann": Future("x", ValueError("no"), status)}
    with pytest.raises(Unreadable) as raised:
        graded()
    assert str(raised.value) == LOST.format(status)
    dask.client = Client(OSError("gone"))
    with pytest.raises(Unreadable) as raised:
        graded()
    assert str(raised.value) == LOST.format("gone")


def test_a_notebook_that_ends_its_worker_is_reported(dask, monkeypatch):
    """Catches a class that stops at the one notebook which ends its worker every time."""
    told = []
    monkeypatch.setattr(scheduling, "failed", lambda *given: told.append(given) or {"graded": "ann"})
    dask.client.futures = {"ann": Future("x", KilledWorker(), "error")}
    assert graded() == EACH
    words = (
        "Grading this notebook ended its worker 2 times, so it was not tried again: look at it by hand, or say --again."
    )
    assert told == [(JOBS[0], words)]
    future = Future("x", KilledWorker(), "cancelled")
    with pytest.raises(Unreadable):
        scheduling._result(JOBS[0], future)


def test_who_has_a_result_is_nobody_where_the_scheduler_does_not_say():
    """Catches an error about a result that is there, since nobody can be named for it."""
    silent = SimpleNamespace(who_has=lambda futures: {})
    assert scheduling._who_has(silent, Future("x", {})) == ()

    def gone(futures):
        raise OSError

    assert scheduling._who_has(SimpleNamespace(who_has=gone), Future("x", {})) == ()


def test_the_scheduler_is_told_how_often_a_notebook_may_fail(dask):
    """Catches dask's own number, by which one notebook ends the workers of four machines."""
    graded()
    assert dask.made == [(HOME, {"security": None, "timeout": 30})] and dask.client.waited == [(1, 60)]
    (tell,) = dask.client.on_scheduler
    settings = SimpleNamespace()
    tell(settings)
    assert vars(settings) == {"allowed_failures": 1}


def test_what_does_not_answer_or_has_no_workers_is_said(dask, monkeypatch):
    for error in (OSError("refused"), TimeoutError("late")):

        def refuses(address, error=error, **options):
            raise error

        monkeypatch.setattr(dask, "Client", refuses)
        with pytest.raises(Unreadable) as raised:
            graded()
        assert str(raised.value) == f"The scheduler at {HOME} does not answer ({error})."
    monkeypatch.setattr(dask, "Client", lambda *given, **options: dask.client)

    def nobody(count, timeout):
        raise TimeoutError

    dask.client.wait_for_workers = nobody
    with pytest.raises(Unreadable) as raised:
        graded()
    words = f"The scheduler at {HOME} has no workers. Start some, where the course is installed: dask worker {HOME}"
    assert str(raised.value) == words and dask.client.left


def test_certificates_are_shown_and_asked_for(dask, tmp_path):
    """Catches a connection that is encrypted and open to everybody, and one role that shows another's key."""
    address = "tls://grader.example.org:8786"
    with pytest.raises(Unreadable, match="--certificates"):
        graded(address)
    with pytest.raises(Unreadable, match="ca.pem is not there. For tls:// all three are needed"):
        graded(address, tmp_path)
    paths = {what: str(tmp_path / f"{what}.pem") for what in ("ca", "cert", "key")}
    for path in paths.values():
        open(path, "w").close()
    assert graded(address, tmp_path) == EACH
    roles = ("client", "scheduler", "worker")
    files = {f"tls_{role}_{what}": paths[what] for role in roles for what in ("key", "cert")}
    ((_, options),) = dask.made
    assert options["security"] == {"tls_ca_file": paths["ca"], "require_encryption": True} | files


def test_without_dask_it_is_said_how_to_get_it(dask, monkeypatch):
    monkeypatch.setattr(scheduling, "find_spec", lambda name: None)
    with pytest.raises(Unreadable, match=r'pip install -e "\.\[grade,cluster\]"'):
        graded()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://x", "is not a scheduler's address, such as tls"),
        ("tls://", "is not a scheduler's address"),
        ("tcp://", "is not a scheduler's address"),
        ("tcp://10.0.0.1:1", "neither authentication nor encryption"),
    ],
)
def test_an_address_that_is_open_is_refused_before_anything_is_sent(address, words, dask):
    with pytest.raises(Unreadable, match=words):
        graded(address)
    assert not dask.made
    for fine in ("tcp://localhost:1", "tcp://[::1]:1", "tls://x:1"):
        scheduling.refuse_open(fine)


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
