"""Right ways to say whether a problem is solved."""

from collections import Counter

from shared.tasks import countdown
from shared.tasks.arithmetic import NotAnExpression, evaluate
from shared.tasks.tags import parse

ORACLE = countdown.correctness_reward


def looped(prompts, completions, numbers, target, **columns):
    rewards = []
    for i in range(len(completions)):
        reward = 0.0
        blocks = parse(completions[i])
        if blocks is not None:
            try:
                value, used = evaluate(blocks[1])
                if value == target[i] and sorted(used) == sorted(numbers[i]):
                    reward = 1.0
            except NotAnExpression:
                pass
        rewards.append(reward)
    return rewards


def counted(prompts, completions, numbers, target, **columns):
    def solved(completion, given, goal):
        _, answer = parse(completion) or ("", "")
        try:
            value, used = evaluate(answer)
        except NotAnExpression:
            return 0.0
        return float(value == goal and Counter(used) == Counter(given))

    return [solved(*row) for row in zip(completions, numbers, target)]


RIGHT = [looped, counted]
EQUIVALENT = {
    "solved: return [hit and right for hit, right in zip(fair, hits)]": "of two numbers or truths, in any order",
}
