"""Flaws of a part of a task, and the verdict that they make."""

from collections.abc import Callable

from shared.exercises.judging import Verdict
from shared.exercises.process import Judgement, safe_verdict
from shared.exercises.results import clipped

WIDTH = 80  # characters of a text that is shown


class Flaw(Exception):
    """A flaw of a student's own task, as a sentence."""


def quoted(text: object) -> str:
    """A text as it is shown, on one line and not too long."""
    return clipped(repr(text), WIDTH)


def raised(error: BaseException) -> str:
    """An exception in words, its own message among them."""
    return clipped(f"{type(error).__name__}: {error}", 2 * WIDTH)


def verdict(name: str, judge: Callable, in_words: Callable[[int], str]) -> Verdict:
    """The verdict of `judge(begun)`, made in a child where a process can fork.

    judge: calls `begun(number)` before what may never return; gives the text of a right one, and the names of what it
        warns of, or raises Flaw.
    in_words: what goes on under that number.
    """

    def judge_and_report(listener) -> Verdict:
        tried = 0

        def begun(number: int) -> None:
            nonlocal tried
            tried += 1
            listener.on_case(number)

        try:
            text, warnings = judge(begun)
        except Flaw as flaw:
            return Verdict(name, False, str(flaw), tried)
        return Verdict(name, True, text, tried, tuple(warnings))

    return safe_verdict(Judgement(name, judge_and_report, in_words))
