"""Right estimates of a KL from samples."""

import torch

from shared.kl import k1
from shared.losses import masked_mean


def ORACLE(sampler_logps, other_logps, completion_mask):
    return masked_mean(k1(sampler_logps, other_logps), completion_mask)


def looped(sampler_logps, other_logps, completion_mask):
    total, count = 0.0, 0
    for ours, theirs, mask in zip(sampler_logps.tolist(), other_logps.tolist(), completion_mask.tolist()):
        for one, other, real in zip(ours, theirs, mask):
            if real:
                total += one - other
                count += 1
    return torch.tensor(total / count)


RIGHT = [looped]
