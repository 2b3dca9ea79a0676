"""The process in which submissions are read: what it bounds, and what it does not change."""

import os
import threading
import time

import pytest

from checker.grading.collect import apart as module
from checker.grading.collect.apart import TooMuch, apart
from checker.reading.notebook import Unreadable, parse


def hang():
    sum(iter(int, 1))  # in C, where no exception of a timer arrives


def fill():
    return len(b"x" * 3 * 10**9)


def echo(value):
    print("a line that is no answer")
    return value, os.getpid()


class Odd(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def odd():
    raise Odd("ham", "eggs")


def test_what_hangs_ends_its_process_and_the_next_call_has_another(monkeypatch):
    """Catches a grader that hangs with a submission, and one that is lost to all who come after."""
    monkeypatch.setattr(module, "SECONDS", 1)
    monkeypatch.setattr(module, "_of_this_thread", threading.local())
    _, before = apart(echo, 1)
    assert before != os.getpid()
    begun = time.monotonic()
    with pytest.raises(TooMuch, match="takes more than"):
        apart(hang)
    assert time.monotonic() - begun < 30
    value, after = apart(echo, "same")
    assert (value, after == before) == ("same", False)


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="macOS keeps no limit on memory")
def test_what_fills_the_memory_is_refused_and_the_process_stays():
    """Catches a notebook that takes the machine's memory, and the other students' with it."""
    _, before = apart(echo, 1)
    with pytest.raises(TooMuch, match="MB of memory"):
        apart(fill)
    assert apart(echo, 2) == (2, before)


def test_errors_come_out_as_they_are(tmp_path):
    """Catches the sentence of an unreadable file lost on the way, and an error that cannot travel taken for a hanging."""
    with pytest.raises(Unreadable, match="There is no such file"):
        apart(parse, tmp_path / "none.ipynb")
    with pytest.raises(RuntimeError, match="Odd: ham and eggs"):
        apart(odd)


def test_a_thread_that_ends_takes_its_process_along():
    """Catches processes that pile up, one for each notebook of a class."""
    found = []
    thread = threading.Thread(target=lambda: found.append(apart(echo, 1)[1]))
    thread.start()
    thread.join()
    with pytest.raises(ProcessLookupError):
        os.kill(found[0], 0)
