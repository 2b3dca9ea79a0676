"""Right surrogates with two bounds."""

import torch

from shared.losses import clipped_surrogate


def ORACLE(ratio, advantages, epsilon, epsilon_high):
    log_ratio = ratio.log()
    return -clipped_surrogate(log_ratio, torch.zeros_like(log_ratio), advantages[:, None], epsilon, epsilon_high)[0]


EQUIVALENT = {
    "objective: return torch.minimum(clipped, free)": "the smaller of two is the same in any order",
}
