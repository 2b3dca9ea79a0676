"""Right ways to count full stops."""

import re

import torch

ORACLE = None  # `shared/tasks/sentences.py` pays without a cap


def cut_at_one(prompts, completions, **columns):
    return [min(1.0, text.count(".") / 10) for text in completions]


def as_a_tensor(prompts, completions, **columns):
    return torch.tensor([text.count(".") for text in completions]).clamp(max=10) / 10


def by_pattern(prompts, completions, **columns):
    return [min(len(re.findall(r"\.", text)), 10) * 0.1 for text in completions]


def letter_by_letter(prompts, completions, **columns):
    rewards = []
    for text in completions:
        stops = 0
        for letter in text:
            stops += letter == "."
        rewards.append(stops / 10 if stops < 10 else 1.0)
    return rewards


RIGHT = [cut_at_one, as_a_tensor, by_pattern, letter_by_letter]
EQUIVALENT = {
    "capped: return [min(most, count) for count in counts]": "of two numbers or truths, in any order",
}
