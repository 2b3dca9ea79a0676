"""Right rewards that are dealt anew."""

import torch


def ORACLE(rewards, drawn, num_generations):
    """Group by group, by sorting pairs of a number and a reward."""
    pairs = list(zip(drawn.tolist(), rewards.tolist()))
    groups = [pairs[first : first + num_generations] for first in range(0, len(pairs), num_generations)]
    return torch.tensor([reward for group in groups for _, reward in sorted(group)])


EQUIVALENT = {"order: return drawn.view(-1, num_generations).argsort()": "a row is the last axis of two"}
