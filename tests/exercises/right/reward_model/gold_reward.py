"""Right rewards for sentences of six words."""

import torch

from shared.tasks import sentences

ORACLE = sentences.length_reward


def as_a_tensor(prompts, completions, **columns):
    words = torch.tensor([float(len(text.replace(".", " ").split())) for text in completions])
    sentences = torch.tensor([float(text.count(".")) for text in completions]).clamp(min=1)
    return -(words / sentences - 6).abs()


RIGHT = [as_a_tensor]
EQUIVALENT = {
    "sentences: return [max(text.count('.'), 1) for text in texts]": "the larger of two is the same in any order",
    "distances: return [abs(6 - length) for length in per_sentence]": "a distance has no sign",
}
