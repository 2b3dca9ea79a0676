"""Checks that a student calls on the student's own function, right under the exercise.

    check.group_advantages(group_advantages)
    check.group_advantages(group_advantages, hint=True)

The second also says what to write, where the mistake is a known one. Each shows one verdict, never raises, and returns whether the function passed. `shared/exercises/` tells how the verdict
comes about, and `shared/exercises/catalogue/` has a file for each exercise: the reference, how arguments are drawn, the
known mistakes.

The check of an exercise is made from its file when it is asked for; the checks of any task stand below. `check.pyi`
lists all of them for editors: `python -m shared.exercises.stub` writes it.
"""

import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache

from torch import Tensor

from shared.exercises.catalogue import EXERCISES
from shared.exercises.own_task.cases import verdict_on_cases
from shared.exercises.own_task.learnable import verdict_on_task
from shared.exercises.own_task.rows import SPLITS, verdict_on_rows
from shared.exercises.process import verdict_on
from shared.exercises.record import Passed, show


def __getattr__(name: str) -> Callable[..., Passed]:
    """The check of an exercise, `check.per_token_kl`."""
    if name in EXERCISES:
        return _check_of(name)
    with_the_word = [check for check in __dir__() if name in check.split("_")]
    near = with_the_word or get_close_matches(name, __dir__(), n=1)
    hint = f"; did you mean {' or '.join(f'`{check}`' for check in near)}?" if near else "."
    raise AttributeError(
        f"there is no check `{name}`{hint}", name=name
    )  # with its name, Python adds no hint of its own


def __dir__() -> list[str]:
    """The names of all checks."""
    return sorted([*EXERCISES, *_of_any_task()])


def _of_any_task() -> list[str]:
    """The names of the checks that stand in this file."""
    here = {name: value for name, value in globals().items() if not name.startswith("_") and inspect.isfunction(value)}
    return [name for name, value in here.items() if value.__module__ == __name__]


@cache
def _check_of(name: str) -> Callable[..., Passed]:
    exercise = EXERCISES[name]

    def check(function: Callable, hint: bool = False) -> Passed:
        return show(verdict_on(exercise, function), function, hint)

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Check {exercise.contract}"
    return check


def rows(function: Callable, splits: Sequence[str] = SPLITS) -> Passed:
    """Check `f(split, n, seed) -> rows`, a data set of one's own: n dicts with a `prompt`, the same columns in all.

    splits: the first is "train"; nothing of it is in the others.
    """
    return show(verdict_on_rows(function, splits), function)


def cases(function: Callable) -> Passed:
    """Check `f() -> [(row, completion, reward), ...]`, good and bad cases of a task of one's own."""
    return show(verdict_on_cases(function), function)


def reward_function(function: Callable, cases: Sequence[tuple[dict, str, float]] | Callable) -> Passed:
    """Check `f(prompts, completions, **columns) -> list of floats`, a reward of one's own.

    cases: (row, completion, reward) that one is sure of, good ones and bad ones, or the function that lists them; the row
        is one of the data set.
    """
    from shared.exercises.own_task.reward import verdict_on_reward  # only now: it imports models, for seconds

    return show(verdict_on_reward(function, cases), function)


def task(
    train_rows: Sequence[dict], eval_rows: Sequence[dict], base_rewards: Tensor, validation_rows: Sequence[dict] = ()
) -> Passed:
    """Check `train_rows` and `eval_rows` of a task of one's own, before training.

    base_rewards: (N, G), what G completions of each of N training prompts earn before training.
    validation_rows: on which settings are chosen.
    """
    return show(verdict_on_task(train_rows, eval_rows, base_rewards, validation_rows))
