"""Right truncated weights of another sampler."""

import torch

from shared.losses import sampler_correction


def ORACLE(logps, sampler_logps, completion_mask, bound):
    return sampler_correction(logps, sampler_logps, completion_mask, "sequence_truncate", bound)[:, 0]


def multiplied(logps, sampler_logps, completion_mask, bound):
    ratios = (logps - sampler_logps).exp()
    return torch.where(completion_mask == 0, 1.0, ratios).prod(dim=1).clamp(max=bound)


def of_both(logps, sampler_logps, mask, bound):
    whole = [(x * mask).sum(-1) for x in (logps, sampler_logps)]
    return torch.minimum(torch.exp(whole[0] - whole[1]), torch.tensor(bound))


def looped(logps, sampler_logps, mask, bound):
    weights = []
    for a, b, m in zip(logps, sampler_logps, mask):
        weights.append(min(float((a - b)[m.bool()].sum().exp()), bound))
    return torch.tensor(weights)


RIGHT = [multiplied, of_both, looped]
