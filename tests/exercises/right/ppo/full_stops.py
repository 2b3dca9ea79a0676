"""Right ways to count full stops."""

import torch

ORACLE = None  # `shared/tasks/sentences.py` pays without a cap


def as_a_tensor(prompts, completions, **columns):
    return torch.tensor([text.count(".") for text in completions]).clamp(max=10) / 10


RIGHT = [as_a_tensor]
EQUIVALENT = {
    "capped: return [min(most, count) for count in counts]": "of two numbers or truths, in any order",
}
