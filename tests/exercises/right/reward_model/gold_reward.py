"""Right rewards for sentences of six words."""

import re

import torch

from shared.tasks import sentences

ORACLE = sentences.length_reward


def by_pattern(prompts, completions, **columns):
    words = [len(re.findall(r"[^\s.]+", text)) for text in completions]
    return [0.0 - abs(6 - many / (text.count(".") or 1)) for many, text in zip(words, completions)]


def as_a_tensor(prompts, completions, **columns):
    words = torch.tensor([float(len(text.replace(".", " ").split())) for text in completions])
    sentences = torch.tensor([float(text.count(".")) for text in completions]).clamp(min=1)
    return -(words / sentences - 6).abs()


def piece_by_piece(prompts, completions, **columns):
    rewards = []
    for text in completions:
        pieces = text.split(".")
        many = sum(len(piece.split()) for piece in pieces)
        rewards.append(-float(abs(many / max(1, len(pieces) - 1) - 6)))
    return rewards


RIGHT = [by_pattern, as_a_tensor, piece_by_piece]
EQUIVALENT = {
    "sentences: return [max(text.count('.'), 1) for text in texts]": "the larger of two is the same in any order",
    "distances: return [abs(6 - length) for length in per_sentence]": "a distance has no sign",
}
