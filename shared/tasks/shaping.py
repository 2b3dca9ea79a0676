"""Rewards for countdown that pay for a part of the way, and a player that only guesses.

`notebooks/what_rl_adds.ipynb` trains with them and shows what each of them invites.
"""

import random
from collections.abc import Sequence

from shared.tasks.arithmetic import NotAnExpression, evaluate
from shared.tasks.countdown import combine, sound_lines
from shared.tasks.tags import parse, tagged


def near_miss_reward(
    prompts: Sequence[str], completions: Sequence[str], target: Sequence[int], **columns
) -> list[float]:
    """1 / (1 + distance) of the answer's value from the target, 0.0 without the format or an expression.

    Which numbers the expression uses is not looked at: that is its hole.
    """
    return [_nearness(completion, goal) for completion, goal in zip(completions, target)]


def _nearness(completion: str, target: int) -> float:
    blocks = parse(completion)
    if blocks is None:
        return 0.0
    try:
        value, _ = evaluate(blocks[1])
    except NotAnExpression:
        return 0.0
    return float(1 / (1 + abs(value - target)))


def sound_reward(
    prompts: Sequence[str],
    completions: Sequence[str],
    numbers: Sequence[Sequence[int]],
    target: Sequence[int],
    **columns,
) -> list[float]:
    """The share of the working's steps that come before its first mistake: a reward for the process.

    A problem of n numbers takes n - 1 steps; `countdown.sound_lines` says what makes one sound.
    """
    return [
        sound_lines(completion, given, goal) / (len(given) - 1)
        for completion, given, goal in zip(completions, numbers, target)
    ]


def uses_given_numbers(completion: str, numbers: Sequence[int]) -> bool:
    """True if the answer is an expression that uses each given number exactly once, whatever its value."""
    blocks = parse(completion)
    if blocks is None:
        return False
    try:
        _, used = evaluate(blocks[1])
    except NotAnExpression:
        return False
    return sorted(used) == sorted(numbers)


def guess(numbers: Sequence[int], rng: random.Random) -> str:
    """A completion in the format that combines the numbers at random and never looks at the target."""
    solution = combine(numbers, rng)
    return tagged(solution.working, solution.expression)
