"""A block that is interrupted when its time is up, in the main thread and in others."""

import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from shared.exercises import interrupting
from shared.exercises.calling import Unfinished
from shared.exercises.interrupting import interrupted_after


def swallows(times: int) -> int:
    """A loop that takes an interruption for an error of its own so many times; how many it met."""
    met = 0
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            while time.monotonic() < until:
                time.sleep(0.001)
        except Unfinished:
            met += 1
            if met > times:
                raise
    return met


def elsewhere(work) -> list:
    """The error that the work raises in another thread, in a list."""
    raised = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(timeout=30)
    return raised


def interrupted(times: int) -> None:
    with interrupted_after(0.02):
        swallows(times)


def test_a_loop_that_swallows_the_interruption_gets_the_next():
    """Catches a function that goes on for ever behind its own `except`."""
    for times in (0, 2):
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            interrupted(times)
        assert [type(error) for error in elsewhere(lambda times=times: interrupted(times))] == [TimeoutError]
        assert time.monotonic() - begun < 4


def test_afterwards_nothing_is_interrupted_and_the_signal_is_as_before():
    """Catches an alarm that rings in the student's next cell."""
    mine = lambda *_: None  # noqa: E731
    before = signal.signal(signal.SIGALRM, mine)
    try:
        with interrupted_after(0.02):
            pass
        assert signal.getsignal(signal.SIGALRM) is mine
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGALRM, before)

    def finishes() -> None:
        with interrupted_after(0.01):
            pass
        time.sleep(0.05)

    finishes()
    assert elsewhere(finishes) == []


def test_what_the_block_raises_goes_through():
    with pytest.raises(KeyError), interrupted_after(5):
        raise KeyError


def test_a_sleep_ends_too_where_there_is_an_alarm(monkeypatch):
    """Catches a check that waits for a function which waits, and one that asks for alarms where there are none."""
    begun = time.monotonic()
    with pytest.raises(TimeoutError), interrupted_after(0.02):
        time.sleep(5)
    assert time.monotonic() - begun < 4
    monkeypatch.delattr(signal, "setitimer")
    with pytest.raises(TimeoutError):
        interrupted(0)


def test_the_thread_that_watches_keeps_no_process_alive(monkeypatch):
    """Catches a kernel that cannot be shut down, where the end of a block was itself interrupted."""
    monkeypatch.delattr(signal, "setitimer")
    before = threading.enumerate()
    with interrupted_after(5):
        (watcher,) = set(threading.enumerate()) - set(before)
        assert watcher.daemon
    assert not watcher.is_alive()


def status_under_a_debugger() -> int:
    """The status of a copy of this process that calls a function while it is traced, as a debugger does it: 0 if well."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(5)
        sys.settrace(lambda *_: None)
        (lambda: None)()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_afterwards_a_debugger_works():
    """Catches an interpreter that is told of an interruption and never gets it: Python 3.11 then waits for ever."""

    def finishes() -> None:
        with interrupted_after(5):
            pass

    assert elsewhere(finishes) == []
    assert [type(error) for error in elsewhere(lambda: interrupted(0))] == [TimeoutError]
    assert status_under_a_debugger() == 0


def test_an_interruption_at_the_very_end_neither_goes_on_nor_is_told(monkeypatch):
    """Catches a thread that interrupts for ever since it was never told that the block has ended."""

    class Interrupted(threading.Event):
        asked = 0

        def set(self) -> None:
            Interrupted.asked += 1
            if Interrupted.asked == 1:
                raise Unfinished
            super().set()

    monkeypatch.setattr(interrupting, "threading", SimpleNamespace(**vars(threading) | {"Event": Interrupted}))
    before = threading.active_count()

    def finishes() -> None:
        with interrupted_after(5):
            pass

    assert elsewhere(finishes) == [] and threading.active_count() == before


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer on this system")
def test_an_interruption_where_memory_is_freed_is_lost_and_told_to_nobody(monkeypatch):
    """Catches "Exception ignored in" below a student's cell, and a test that fails by the alarm of the one before."""

    class Slow:
        def __del__(self):
            time.sleep(1)

    def work() -> None:
        Slow()
        swallows(0)

    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    hook = sys.unraisablehook
    with pytest.raises(TimeoutError), interrupted_after(0.02):
        work()
    assert told == [] and sys.unraisablehook is hook
