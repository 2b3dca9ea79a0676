"""The common parts of exercises on rewards: the call of a reward, and the slips that are made in any of them.

The slips change the steps `texts`, the completions as they are read, and `rewards`, the result.
"""

from collections.abc import Callable

from shared.exercises.exercise import Case
from shared.exercises.steps import Slip


def as_score_calls(function: Callable, case: Case):
    """Call a reward as `shared.rewards.score` and TRL do: by name, with a column more than it reads."""
    return function(**case, another_column=[None] * len(case["completions"]))


def first_completion_for_all(completions):
    return [completions[0]] * len(completions)


def first_line_alone(completions):
    return [text.partition("\n")[0] for text in completions]


def returned_too_early(rewards):
    return rewards[:1]


def same_for_all(rewards):
    return [sum(rewards) / len(rewards)] * len(rewards)


FIRST_COMPLETION_FOR_ALL = Slip.of(
    "texts", "Only the first completion is read. Go through all of them: one reward for each.", first_completion_for_all
)
FIRST_LINE_ALONE = Slip.of(
    "texts",
    "Only the first line of each completion is read. All of it counts, what stands behind a line break too.",
    first_line_alone,
)
RETURNED_TOO_EARLY = Slip.of(
    "rewards",
    "You return inside the loop: the list ends with the first completion. Take `return` out of it.",
    returned_too_early,
)
SAME_FOR_ALL = Slip.of("rewards", "All completions share one average reward. Return one number for each.", same_for_all)
