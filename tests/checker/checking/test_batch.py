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

    def __init__(self, *arguments, **options):
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
