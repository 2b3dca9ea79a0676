"""A block that is interrupted when its time is up, in the main thread and in others."""

import signal
import threading
import time

import pytest

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

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
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
