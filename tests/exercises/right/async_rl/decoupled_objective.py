"""Right objectives with two ratios."""

import torch

from shared.losses import clipped_surrogate, sampler_correction


def ORACLE(logps, start_logps, sampler_logps, advantages, epsilon, cap):
    first = sampler_correction(start_logps, sampler_logps, torch.ones_like(logps), "token_truncate", cap)
    return -first * clipped_surrogate(logps, start_logps, advantages[:, None], epsilon, epsilon)[0]


EQUIVALENT = {
    "smaller: return torch.minimum(clipped * column, ratio * column)": "the smaller of two is the same in any order",
}
