"""The checks of any task as grading asks them: what a function did, as a sentence, "" where nothing is wrong with it.

They have no hidden values to compare with, as the exercises of the catalogue have. So they tell whether a task is well
made, and a function that sets out to deceive them can. A person says by the rubric what the task is worth.
"""

from collections.abc import Callable
from dataclasses import dataclass

from shared.exercises.own_task import cases, reward, rows
from shared.exercises.own_task.flaws import Flaw
from shared.exercises.results import Result, Text

CASES = ("all_cases", "good_and_bad_cases")  # functions of the notebook: the first that a reward is handed counts


@dataclass(frozen=True)
class AnyTask:
    """A check without a reference. call: the sentence on a function."""

    call: Callable[[Callable, dict], str]
    result: Result = Text()
    gradient: None = None
    relevant: None = None
    shows: tuple[str, ...] = (__name__,)

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
    return _sentence(lambda: rows.judge_rows(function, rows.SPLITS, _ignored))


def of_cases(function: Callable, case: dict) -> str:
    return _sentence(lambda: cases.judge_cases(function, _ignored))


def of_reward(function: Callable, case: dict) -> str:
    listed = next((function.__globals__[name] for name in CASES if name in function.__globals__), None)
    if listed is None:
        return f"there is no function `{CASES[-1]}` to hold it against."
    return _sentence(lambda: reward.judge_reward(function, listed, _ignored))


BY_CHECK = {"rows": AnyTask(of_rows), "cases": AnyTask(of_cases), "reward_function": AnyTask(of_reward)}
