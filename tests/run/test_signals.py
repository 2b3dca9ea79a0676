"""Ctrl-C as a wish for the end of the step."""

import os
import signal

import pytest

from shared.engine.processes import ProcessLost
from shared.run import signals
from shared.run.signals import stop_after_the_step


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", signals.SIGNALS)
def test_the_first_signal_is_remembered_and_told_once(number):
    said = []
    with stop_after_the_step(said.append) as asked:
        assert not asked()
        press(number)
        assert asked()
        press(number)  # passed on by a launcher
        assert asked() and len(said) == 1 and "ends after this step" in said[0]


def test_a_second_ctrl_c_ends_at_once(monkeypatch):
    """Catches a program that cannot be left while a step takes an hour."""
    monkeypatch.setattr(signals, "SAME_WISH", 0.0)
    with pytest.raises(KeyboardInterrupt), stop_after_the_step(lambda text: None):
        press()
        press()


def test_a_second_signal_of_a_scheduler_does_not(monkeypatch):
    monkeypatch.setattr(signals, "SAME_WISH", 0.0)
    with stop_after_the_step(lambda text: None) as asked:
        press()
        press(signal.SIGTERM)
        assert asked()


def test_afterwards_signals_are_what_they_were():
    before = [signal.getsignal(number) for number in signals.SIGNALS]
    with stop_after_the_step(lambda text: None):
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert [signal.getsignal(number) for number in signals.SIGNALS] == before


def test_a_process_that_lost_another_lives_to_say_so():
    """Catches a launcher's SIGTERM, sent as soon as one process is gone, that comes before the others' sentence."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(ProcessLost), stop_after_the_step(lambda text: None):
            raise ProcessLost("gone")
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
