"""Right ways to find groups without a spread."""

import torch

ORACLE = None


def by_extremes(rewards):
    return rewards.max(dim=1).values == rewards.min(dim=1).values


def by_sets(rewards):
    return torch.tensor([len(set(row)) == 1 for row in rewards.tolist()])


def by_neighbours(rewards):
    return (rewards.diff(dim=1) == 0).all(dim=1)


RIGHT = [by_extremes, by_sets, by_neighbours]
