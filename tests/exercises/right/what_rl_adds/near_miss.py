"""Right rewards for near misses."""

from shared.tasks.arithmetic import NotAnExpression, evaluate
from shared.tasks.shaping import near_miss_reward
from shared.tasks.tags import parse

ORACLE = near_miss_reward


def looped(prompts, completions, target, **columns):
    rewards = []
    for completion, goal in zip(completions, target):
        blocks = parse(completion)
        reward = 0.0
        if blocks:
            try:
                value, _ = evaluate(blocks[1])
                reward = 1.0 / (1.0 + float(abs(value - goal)))
            except NotAnExpression:
                pass
        rewards.append(reward)
    return rewards


EQUIVALENT = {
    "distances: return [None if value is None else abs(goal - value) for value, goal in zip(values, goals)]": (
        "a distance is the same from both ends"
    ),
}
