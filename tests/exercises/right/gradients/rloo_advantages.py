"""Right leave-one-out advantages."""

import torch

from shared.advantages import leave_one_out_advantages


def ORACLE(rewards):
    G = rewards.size(-1)
    return leave_one_out_advantages(rewards.flatten(), G)[0].view_as(rewards)


def from_the_mean(rewards):
    """The group mean's advantage, scaled up by G / (G - 1)."""
    G = rewards.shape[-1]
    return (rewards - rewards.mean(-1, keepdim=True)) * G / (G - 1)


def by_matrix(rewards):
    G = rewards.shape[-1]
    others = (torch.ones(G, G) - torch.eye(G)) / (G - 1)
    return rewards - rewards @ others.to(rewards.dtype)


def looped(rewards):
    columns = []
    for g in range(rewards.shape[-1]):
        others = torch.cat([rewards[..., :g], rewards[..., g + 1 :]], dim=-1)
        columns.append(rewards[..., g] - others.mean(dim=-1))
    return torch.stack(columns, dim=-1)


RIGHT = [from_the_mean, by_matrix, looped]
