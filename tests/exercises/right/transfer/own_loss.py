"""Right losses over the policy's own tokens."""

import torch

from shared.losses import reinforce_loss


def ORACLE(logps, advantages, policy_mask):
    return reinforce_loss(logps, advantages, policy_mask)[0]


def by_einsum(logps, advantages, policy_mask):
    mask = policy_mask.to(logps.dtype)
    of_rows = torch.einsum("bc,bc->b", logps, mask) / mask.sum(1)
    return -(of_rows * advantages).sum() / len(logps)


def looped(logps, advantages, policy_mask):
    total = 0.0
    for row in range(len(logps)):
        own = logps[row][policy_mask[row] == 1]
        total = total - advantages[row] * own.mean()
    return total / len(logps)


RIGHT = [by_einsum, looped]
