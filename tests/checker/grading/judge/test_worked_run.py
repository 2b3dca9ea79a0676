"""The limits of whole notebooks, by what the worked one takes."""

import json
from dataclasses import replace

import pytest

from checker.grading.box.limits import Limits
from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.judge import worked_run
from checker.grading.judge.one_notebook import Job, Settings
from checker.grading.judge.whole_notebook import Executed
from checker.grading.judge.worked_run import Taken, measure, measured
from checker.grading.table.rules import Rules
from checker.grading.work import ClassWork, measure_limits, with_limits
from tests.checker.grading.table.forty import worked_notebook

SETTINGS = Settings(7, Isolation("none"), whole=False)


@pytest.fixture
def worked(tmp_path):
    return worked_notebook(tmp_path / "notebooks")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "worked.json"


@pytest.fixture
def ran(monkeypatch):
    """The worked notebooks that ran, each of which takes 50 s and 2.6 GB, unless it stops."""
    found = []

    def run(job):
        found.append(job)
        return Executed(json.loads(job.text), "Cell 5 stopped." if len(found) > 1 else "", 50.0, 2_600_000_000)

    monkeypatch.setattr(worked_run, "run", run)
    return found


def test_a_class_has_the_limits_of_its_worked_notebooks_run_once(worked, place, ran):
    """Catches a limit that a busy machine is close to, other limits in the second run, and a sentence without the factor."""
    told = []
    for _ in range(2):
        measure([worked, worked], SETTINGS, place, 2, told.append)
    taken = measured(worked, SETTINGS, place)
    assert taken == Taken(50.0, 2_600_000_000)
    (job,) = ran
    assert json.loads(job.text) == worked.content and job.settings.whole and job.limits == worked_run.ROOM
    assert told == [
        "dots.ipynb: the worked notebook takes 50 s and 2,600 MB here; a student's may take 200 s and 5,200 MB (4 and 2"
        " times as much)."
    ]
    assert taken.limits == Limits(wall=200, cpu=400, memory=5_200_000_000)
    quick = Taken(1.0, 1).limits
    assert (quick.wall, quick.memory) == (60, 1_000_000_000), "a moment's noise would stop everybody"


def test_a_worked_notebook_that_stops_says_so_and_sets_no_limit(worked, place, ran):
    """Catches a class that gets a second each, since an older edition does not run on today's course."""
    told = []
    ran.append("an earlier one")
    measure([worked], SETTINGS, place, 1, told.append)
    assert (
        measured(worked, SETTINGS, place).limits == Limits() and "does not come to its end on this machine" in told[0]
    )


@pytest.mark.parametrize(
    ("seconds", "megabytes", "limits"),
    [
        (None, None, Limits(wall=200, cpu=400, memory=5_200_000_000)),
        (300, None, Limits(wall=300, cpu=600, memory=5_200_000_000)),
        (10, 7, Limits(wall=10, cpu=480, memory=7_000_000)),
    ],
)
def test_what_the_rules_say_goes_before(seconds, megabytes, limits, worked, place, ran):
    """Catches a rule of the class that nobody reads, and a result that is found under the name that it had without limits."""
    job = Job("ann", "dots.ipynb", "{}", worked, SETTINGS)
    whole = replace(SETTINGS, whole=True)
    this_class = Class([worked], whole, rules=Rules(seconds=seconds, megabytes=megabytes))
    work = ClassWork([(None, job)], [], [])
    measure_limits(work, this_class, place, 1)
    ((_, within),) = with_limits(work, this_class, place).jobs
    assert within.limits == limits and within.digest != job.digest
    assert len(ran) == (0 if megabytes else 1)


def test_a_damaged_file_is_none(worked, place, ran):
    place.write_text('{"a":')
    assert measured(worked, SETTINGS, place) == Taken(None, None)
    measure([worked], SETTINGS, place, 1, print)
    assert measured(worked, SETTINGS, place) == Taken(50.0, 2_600_000_000)
