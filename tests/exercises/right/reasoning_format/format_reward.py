"""Right ways to recognise the two blocks."""

import re

from shared.tasks import addition
from shared.tasks.tags import TAGS

ORACLE = addition.format_reward
PATTERN = re.compile(r"\A\s*<think>\n(?:.+?)\n</think>\n<answer>\n(?:.+?)\n</answer>\s*\Z", re.S)


def anchored(prompts, completions, **columns):
    return [1.0 if PATTERN.match(text) and all(text.count(tag) == 1 for tag in TAGS) else 0.0 for text in completions]


def without_tags_inside(prompts, completions, **columns):
    block = r"(?:(?!</?think>|</?answer>).)+"
    pattern = rf"<think>\n{block}\n</think>\n<answer>\n{block}\n</answer>"
    return [float(bool(re.fullmatch(pattern, text.strip(), re.DOTALL))) for text in completions]


def by_hand(prompts, completions, **columns):
    rewards = []
    for text in completions:
        text = text.strip()
        right = (
            text.startswith("<think>\n") and text.endswith("\n</answer>") and text.count("\n</think>\n<answer>\n") == 1
        )
        if right:
            think, _, answer = text[len("<think>\n") : -len("\n</answer>")].partition("\n</think>\n<answer>\n")
            right = bool(think and answer) and not any(tag in think + answer for tag in TAGS)
        rewards.append(1.0 if right else 0.0)
    return rewards


RIGHT = [anchored, without_tags_inside, by_hand]
EQUIVALENT = {
    "kept: return [fits and alone for fits, alone in zip(once, matches)]": "of two numbers or truths, in any order",
}
