"""The checks of any task as grading asks them: what a function did, as a sentence, "" where nothing is wrong with it.

They have no hidden values to compare with, as the exercises of the catalogue have. So they tell whether a task is well
made, and a person says by the rubric what it is worth.

A function is judged twice. Beside it, where it is called, its answers are recorded: there it may replace the judge. Where
it has no say, the same judge asks the same questions, and the recorded answers come back. Who writes the record by hand
has to write the answers of a function that is right.

    beside the function    judge asks rows("train", 100, 0)     the function answers, [{"prompt": ...}, ...] is recorded
    elsewhere              judge asks rows("train", 100, 0)     the record answers
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from shared.exercises.own_task import cases, reward, rows
from shared.exercises.own_task.flaws import Flaw
from shared.exercises.results import Result, Text, clipped

CASES = ("all_cases", "good_and_bad_cases")  # functions of the notebook: the first that a reward is handed counts
LONGEST_NAME, LONGEST_WORDS = 60, 300  # of an error that is recorded
NO_ANSWER = "it gave no answer that can be judged."
BLANK = "NotImplementedError"

Ask = Callable[..., object]


class Told(str):
    """The sentence on a function, with the record of its answers."""

    answers: list[dict]


@dataclass(frozen=True)
class AnyTask:
    """A check without a reference. judge: raises Flaw for a function, and for the function of the cases where it has any."""

    judge: Callable[[Ask, Ask | None], object]
    has_cases: bool = False
    result: Result = Text()
    gradient: None = None
    relevant: None = None
    shows: tuple[str, ...] = (__name__,)

    def cases(self, seed: int) -> list[dict]:
        """One: everything that is asked, is asked in one call."""
        return [{"seed": seed}]

    def call(self, function: Callable, case: dict) -> Told:
        """The sentence on a function, and its answers."""
        known = function.__globals__ if self.has_cases else {}
        listed = next((known[name] for name in CASES if name in known), None)
        answers = []
        told = Told(f"there is no function `{CASES[-1]}` to hold it against.")
        if listed is not None or not self.has_cases:
            told = Told(_sentence(lambda: self.judge(_recorded(function, answers), _recorded(listed, answers))))
        told.answers = answers
        return told

    def again(self, answers: object) -> str:
        """The sentence on recorded answers, which may be anything."""
        left = iter(answers if isinstance(answers, list) else [])
        try:
            return _sentence(lambda: self.judge(partial(_next, left), partial(_next, left)))
        except Exception:
            return NO_ANSWER


def _ignored(number: int) -> None:
    """Nobody waits for a number here: the box has its own clock."""


def _sentence(judge: Callable[[], object]) -> str:
    try:
        judge()
    except Flaw as flaw:
        return str(flaw)
    return ""


def _recorded(function: Ask | None, answers: list[dict]) -> Ask:
    """A function that gives what another one gives, and records it."""

    def ask(*arguments, **named):
        given = copy.deepcopy(named)
        try:
            result = function(*arguments, **named)
        except BaseException as error:
            name = clipped(type(error).__name__, LONGEST_NAME)
            answers.append({"raised": name, "words": clipped(str(error), LONGEST_WORDS)})
            raise
        try:
            answers.append({"gave": json.dumps(result, default=_plain), "changed": named != given})
        except (TypeError, ValueError, RecursionError):
            answers.append({})
        return result

    return ask


def _plain(value: object) -> object:
    """The numbers of a tensor or an array; of anything else the name of its type."""
    return value.tolist() if hasattr(value, "tolist") else type(value).__name__


def _next(answers: Iterator[dict], *arguments, **named) -> object:
    """The next recorded answer; the arguments are changed where the function changed one. Raises what it raised."""
    answer = next(answers, {"raised": "LookupError", "words": "no answer was given"})
    if "raised" in answer:
        kind = NotImplementedError if answer["raised"] == BLANK else type(str(answer["raised"]), (Exception,), {})
        raise kind(str(answer["words"]))
    for value in named.values() if answer["changed"] else ():
        value.clear()
    found = json.loads(answer["gave"])
    return [tuple(part) if isinstance(part, list) else part for part in found]  # a case is a tuple


BY_CHECK = {
    "rows": AnyTask(lambda function, listed: rows.judge_rows(function, rows.SPLITS, _ignored)),
    "cases": AnyTask(lambda function, listed: cases.judge_cases(function, _ignored)),
    "reward_function": AnyTask(
        lambda function, listed: reward.judge_reward(function, listed, _ignored), has_cases=True
    ),
}
