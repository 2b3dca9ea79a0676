"""The checks of any task as grading asks them: what a function did, as a sentence, "" where nothing is wrong with it.

No hidden value stands behind them, as behind an exercise of the catalogue. So they tell that a task is well made, and a
function that sets out to deceive its judge could; what a task is worth, a person says by the rubric.
"""

from collections.abc import Callable
from dataclasses import dataclass

from shared.exercises.own_task import cases, reward, rows
from shared.exercises.own_task.flaws import Flaw
from shared.exercises.results import Result, Text

CASES = "good_and_bad_cases"  # the function of the notebook that lists them, which the reward is asked with


@dataclass(frozen=True)
class AnyTask:
    """A check without a reference. call: the sentence on a function."""

    call: Callable[[Callable, dict], str]
    result: Result = Text()
    gradient: None = None
    relevant: None = None

    def cases(self, seed: int) -> list[dict]:
        """One: everything that is asked, is asked in one call."""
        return [{"seed": seed}]


def _ignored(number: int) -> None:
    """Nobody waits for a number here: the box has its own clock."""


def _sentence(judge: Callable[[], object]) -> str:
    try:
        judge()
    except Flaw as flaw:
        return str(flaw)
    return ""


def of_rows(function: Callable, case: dict) -> str:
    return _sentence(lambda: rows.judged(function, rows.SPLITS, _ignored))


def of_cases(function: Callable, case: dict) -> str:
    return _sentence(lambda: cases.judged(function, _ignored))


def of_reward(function: Callable, case: dict) -> str:
    listed = function.__globals__.get(CASES)
    if listed is None:
        return f"there is no function `{CASES}` to hold it against."
    return _sentence(lambda: reward.judged(function, listed, _ignored))


BY_CHECK = {"rows": AnyTask(of_rows), "cases": AnyTask(of_cases), "reward_function": AnyTask(of_reward)}
