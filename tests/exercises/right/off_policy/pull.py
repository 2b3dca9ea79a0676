"""Right pulls."""

import torch

from shared.losses import ratio_weight


def ORACLE(logps, old_logps, advantages, epsilon):
    return ratio_weight(logps - old_logps, advantages[:, None], epsilon=epsilon) * advantages[:, None]


def by_autograd(logps, old_logps, advantages, epsilon):
    """The derivative of the clipped objective that papers write."""
    moved = logps.detach().requires_grad_(True)
    ratio = torch.exp(moved - old_logps)
    free, held = (one * advantages[:, None] for one in (ratio, ratio.clamp(1 - epsilon, 1 + epsilon)))
    return torch.autograd.grad(torch.minimum(free, held).sum(), moved)[0]


RIGHT = [by_autograd]
EQUIVALENT = {
    "risen: return ratio >= 1 + epsilon": "no case stands on the end of the range",
    "fallen: return ratio <= 1 - epsilon": "the same",
    "rests: return risen & (column >= 0) | fallen & (column < 0)": "with an advantage of 0 the pull is 0 anyhow",
    "rests: return risen & (column > 0) | fallen & (column <= 0)": "the same",
}
