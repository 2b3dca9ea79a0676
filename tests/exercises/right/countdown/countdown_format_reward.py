"""Right ways to reward the format of countdown."""

from shared.tasks import countdown
from shared.tasks.arithmetic import NotAnExpression, evaluate
from shared.tasks.tags import parse

ORACLE = countdown.format_reward


def looped(prompts, completions, **columns):
    rewards = []
    for completion in completions:
        blocks = parse(completion)
        if blocks is None:
            rewards.append(0.0)
            continue
        try:
            evaluate(blocks[1])
            rewards.append(1.0)
        except NotAnExpression:
            rewards.append(0.5)
    return rewards


def in_halves(prompts, completions, **columns):
    def one(completion):
        reward = 0.0
        if blocks := parse(completion):
            reward += 0.5
            try:
                reward += 0.5 * (evaluate(blocks[1]) is not None)
            except NotAnExpression:
                pass
        return reward

    return list(map(one, completions))


RIGHT = [looped, in_halves]
