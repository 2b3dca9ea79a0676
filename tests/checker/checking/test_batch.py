"""Reports on many notebooks, worked out in several processes."""

import concurrent.futures
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from checker.checking import batch
from checker.reading.inventory import Entry
from checker.reading.notebook import Unreadable

ENTRIES = [Entry(f"{number}.ipynb", Path(), Path(), Unreadable("It is none.")) for number in range(5)]


class Pool:
    """A pool of processes of which one is killed after two reports."""

    def __init__(self, workers):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def map(self, function, entries, chunksize):
        yield from map(function, entries[:2])
        raise BrokenProcessPool


@pytest.mark.parametrize("few", [2, 5, 6])
def test_each_notebook_has_one_report_where_a_process_was_killed(few, monkeypatch):
    """Catches notebooks that are reported twice, or never, and a run that ends with a traceback."""
    monkeypatch.setattr(batch, "FEW", few)
    monkeypatch.setattr(batch.os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Pool)
    assert [report.name for report in batch.check_all(iter(ENTRIES))] == [entry.name for entry in ENTRIES]


class Working:
    """A pool that works in this process, and keeps what it was asked for."""

    asked: list = []

    def __init__(self, workers):
        self.asked.append(workers)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def map(self, function, entries, chunksize):
        if chunksize < 1:
            raise ValueError("as the real one says")
        return map(function, entries)


@pytest.fixture
def pool(monkeypatch):
    """The numbers of processes that pools were asked for, where three notebooks are no longer few."""
    monkeypatch.setattr(batch, "FEW", 3)
    monkeypatch.setattr(Working, "asked", [])
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Working)
    return Working.asked


def names(entries) -> list[str]:
    return [report.name for report in batch.check_all(iter(entries))]


@pytest.mark.parametrize(
    ("usable", "cores", "processes"), [({0}, 8, []), ({0, 5}, 8, [2]), (None, 8, [8]), (None, None, [])]
)
def test_as_many_processes_as_there_are_cores_to_use(usable, cores, processes, pool, monkeypatch):
    """Catches sixty-four processes where a cluster lends two cores, and an error on macOS, which cannot tell."""
    if usable is None:
        monkeypatch.delattr(batch.os, "sched_getaffinity", raising=False)
    else:
        monkeypatch.setattr(batch.os, "sched_getaffinity", lambda process: usable, raising=False)
    monkeypatch.setattr(batch.os, "cpu_count", lambda: cores)
    assert names(ENTRIES) == [entry.name for entry in ENTRIES]
    assert pool == processes


@pytest.mark.parametrize(("entries", "pools"), [(2, 0), (3, 1)])
def test_few_notebooks_start_no_processes(entries, pools, pool, monkeypatch):
    """Catches seconds of starting for a check of milliseconds."""
    monkeypatch.setattr(batch, "cores", lambda: 2)
    assert names(ENTRIES[:entries]) == [entry.name for entry in ENTRIES[:entries]]
    assert len(pool) == pools


def test_on_one_core_a_report_comes_before_the_last_file_is_looked_at(pool, monkeypatch):
    """Catches a minute of silence before the first line of a large class."""
    monkeypatch.setattr(batch, "cores", lambda: 1)
    rest = iter(ENTRIES)
    reports = batch.check_all(rest)
    assert next(reports).name == ENTRIES[0].name
    assert [entry.name for entry in rest] == [entry.name for entry in ENTRIES[3:]]


def test_each_check_is_given_the_notebooks_name_and_the_options(monkeypatch):
    """Catches a picture that is missed though it lies beside the notebook, and a code that is ignored nowhere."""
    asked = []
    monkeypatch.setattr(batch, "check", lambda file, **options: asked.append((file, options)))
    entries = [Entry("a", Path("a.ipynb"), Path()), Entry("b", Path("b.ipynb"), Path(), beside=False)]
    list(batch.check_all(entries, ignore=["P009"]))
    given = {"ignore": ["P009"]}
    assert asked == [
        (Path("a.ipynb"), given | {"name": "a", "beside": True}),
        (Path("b.ipynb"), given | {"name": "b", "beside": False}),
    ]


def test_why_a_file_cannot_be_read_is_in_its_report():
    (report,) = batch.check_all(ENTRIES[:1])
    assert report.status == "unreadable" and report.findings[0].advice == "It is none."
