"""Workers of a scheduler, which are asked what they are before and after: a stand-in for the client answers for them.

That dask asks and answers so is tried with its own processes in test_many_machines.py.
"""

from socket import gethostname

import pytest

from checker.grading.box.selection import NoIsolation
from checker.grading.box.walls import Isolation
from checker.grading.judge import workers
from checker.grading.judge.one_notebook import Job, Settings, course
from checker.reading.notebook import Unreadable

ANOTHER = (
    "The worker a has another version of the course than this machine{}, by which other points may be given. Nothing of it"
    " counts. Bring it to this version, start it again, and call this command again; or stop it."
)
JOB = Job("ann", "x.ipynb", "{}", None, Settings(7, Isolation("none")))


class Client:
    """Stands for dask's: what each worker says, and what they were asked."""

    def __init__(self, **said):
        self.said = said
        self.asked = []

    def run(self, function, *arguments, **options):
        self.asked.append((function, arguments, options))
        return self.said


@pytest.fixture
def boxless(monkeypatch):
    def refuses(kind):
        raise NoIsolation(f"no {kind} here.")

    workers.isolation_here.cache_clear()
    monkeypatch.setattr(workers, "choose", refuses)
    yield
    workers.isolation_here.cache_clear()


def fit() -> dict:
    return {"course": course(), "no box": ""}


def test_fit_workers_are_asked_once_and_by_name():
    """Catches a worker that is given work unasked, and all of them asked again when one is added."""
    client = Client(a=fit(), b=fit())
    workers.refuse_unfit(client, {"b", "a"}, "bubblewrap")
    asked = (workers.about_this_worker, ("bubblewrap",), {"workers": ["a", "b"], "on_error": "return"})
    assert client.asked == [asked]
    workers.refuse_unfit(client, set(), "bubblewrap")
    assert len(client.asked) == 1, "no workers are all workers to dask"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (ImportError("no module"), ANOTHER.format(" (ImportError: no module)")),
        ({"course": "older", "no box": ""}, ANOTHER.format("")),
        (
            fit() | {"no box": "No bubblewrap."},
            "The worker a was given nothing to run: No bubblewrap. Mend that and call this command again, or stop the worker.",
        ),
    ],
    ids=["an error", "an older course", "no box"],
)
def test_an_unfit_worker_is_named(said, words):
    """Catches points that another version gave, and students' code that runs without a box."""
    with pytest.raises(Unreadable) as raised:
        workers.refuse_unfit(Client(b=fit(), a=said), {"a", "b"}, "bubblewrap")
    assert str(raised.value) == words


def test_a_worker_that_ends_over_the_question_is_passed_over():
    """Catches a class that ends with "another version" because a notebook killed its worker while it was asked."""
    ended = OSError("Timed out.")
    workers.refuse_unfit(Client(a=ended, b=fit()), {"a", "b"}, "bubblewrap")
    with pytest.raises(Unreadable, match="^The worker b has another version"):
        workers.refuse_unfit(Client(a=ended, b={"course": "older", "no box": ""}), {"a", "b"}, "bubblewrap")


def test_a_worker_says_what_it_is(monkeypatch):
    workers.isolation_here.cache_clear()
    asked = []
    monkeypatch.setattr(workers, "choose", lambda kind: asked.append(kind) or Isolation("none"))
    assert [workers.about_this_worker("none") for _ in range(2)] == [fit()] * 2
    assert asked == ["none"], "a box is tried once"
    workers.isolation_here.cache_clear()


def test_a_worker_without_a_box_says_why(boxless):
    assert workers.about_this_worker("bubblewrap") == {"course": course(), "no box": "no bubblewrap here."}


def test_without_a_box_nothing_is_run_and_it_is_tried_again(boxless, monkeypatch):
    """Catches a student's code on a machine that cannot hold it, and points lost for good by the machine's fault."""
    told = []
    monkeypatch.setattr(workers, "failed", lambda *arguments, **options: told.append((arguments, options)) or {})
    run = []
    assert workers.graded_here(run.append, JOB) == {} and run == []
    assert told == [((JOB, f"The machine {gethostname()} has no box for it: no none here."), {"transient": True})]


def test_work_is_done_in_the_box_of_the_machine_it_runs_on(monkeypatch):
    """Catches the grader's own way to its box, which another machine need not have."""
    here = Isolation("none")
    asked = []
    monkeypatch.setattr(workers, "isolation_here", lambda kind: asked.append(kind) or here)
    graded = []
    result = workers.graded_here(lambda job: graded.append(job) or {"done": 1}, JOB)
    assert result == {"done": 1} and asked == ["none"]
    assert graded[0].settings.isolation is here
    assert (graded[0].student, graded[0].settings.seed) == ("ann", 7)


def test_a_result_of_another_version_is_refused():
    """Catches a worker that came later, of an older version, whose points count."""
    workers.refuse_another_version({"course": course()}, ("a",))
    for names, told in ((("a", "b"), "The worker a or b has"), ((), "The worker that was added last has")):
        with pytest.raises(Unreadable, match=f"^{told} another version of the course than this machine, by which"):
            workers.refuse_another_version({"course": "older"}, names)
    with pytest.raises(Unreadable):
        workers.refuse_another_version({}, ("a",))
