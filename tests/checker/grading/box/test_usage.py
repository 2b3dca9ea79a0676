"""Watching a tree of processes: what is read of one, and which limit it is over."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from checker.grading.box import usage
from checker.grading.box.limits import Limits
from checker.grading.box.usage import PAGE, Process, Usage, exceeded

LIMITS = Limits(processes=3, memory=5_000_000, cpu=7.0)
MEMBERS = [Process(10, 1, 1, 2_000_000, 3.0), Process(11, 10, 2, 3_000_000, 4.0)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, ""),
        ({"threads": 3}, "it started more than 3 processes and threads"),
        ({"resident": 3_000_001}, "its processes took more than 5 MB of memory together"),
        ({"cpu": 4.5}, "its processes took more than 7 s of CPU time together"),
    ],
)
def test_what_is_at_a_limit_goes_on_and_what_is_over_it_is_named(change, sentence, monkeypatch):
    """Catches a tree that is ended at its limit, and one limit named for another."""
    members = [MEMBERS[0], replace(MEMBERS[1], **change)]
    monkeypatch.setattr(usage, "tree", lambda root: members)
    monkeypatch.setattr(usage, "_proportional", lambda process: process.resident)
    taken = Usage(
        sum(member.threads for member in members),
        sum(member.resident for member in members),
        sum(member.cpu for member in members),
    )
    assert exceeded(10, LIMITS) == (sentence, taken)


def test_pages_are_divided_only_where_they_matter(monkeypatch):
    """Catches a slow look at each process's pages, many times a second, although nothing is near its limit."""
    monkeypatch.setattr(usage, "tree", lambda root: MEMBERS)
    monkeypatch.setattr(usage, "_proportional", lambda process: 1_000_000)
    assert exceeded(10, LIMITS)[1].memory == 5_000_000
    assert exceeded(10, replace(LIMITS, memory=4_999_999)) == ("", Usage(3, 2_000_000, 7.0))


def test_a_process_is_read_field_by_field():
    """Catches the field beside the right one, and a name with brackets that shifts them all."""
    comm = Path("/proc/self/comm")
    name = comm.read_text()
    comm.write_text("a) R 1 (b")
    try:
        seen = usage._read(os.getpid())
    finally:
        comm.write_text(name)
    assert (seen.number, seen.parent) == (os.getpid(), os.getppid())
    assert seen.threads == len(os.listdir("/proc/self/task")) >= threading.active_count()
    assert abs(seen.cpu - sum(os.times()[:4])) < 0.1
    statm = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    assert abs(seen.resident - statm) < 0.1 * statm
    assert abs(usage._in_other_threads(os.getpid()) - statm) < 0.1 * statm
    assert 0 < usage._proportional(seen) <= 1.1 * statm


def test_what_has_ended_is_passed_over():
    """Catches a grader that stumbles over a process which ended between two looks."""
    assert usage._read(2**22 + 1) is None
    assert usage._in_other_threads(2**22 + 1) == 0


def test_a_process_whose_pages_may_not_be_read_counts_whole(monkeypatch):
    """Catches 0 bytes for whoever hides from the grader."""

    def refuse(*arguments):
        raise PermissionError

    monkeypatch.setattr(usage, "open", refuse, raising=False)
    assert usage._proportional(MEMBERS[0]) == 2_000_000
