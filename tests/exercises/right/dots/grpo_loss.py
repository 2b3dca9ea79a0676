"""Right ways to write the clipped loss."""

import torch

from shared.losses import grpo_loss


def ORACLE(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta=beta, epsilon=epsilon)[0]


def k3(logps, ref_logps):
    return torch.expm1(ref_logps - logps) - (ref_logps - logps)


def two_sided(logps, old, adv, mask, ref, beta, eps):
    ratio = (logps - old).exp()
    limited = torch.where(adv[:, None] > 0, ratio.clamp(max=1 + eps), ratio.clamp(min=1 - eps))
    per_token = -limited * adv[:, None] + beta * k3(logps, ref)
    return torch.stack([row[m.bool()].mean() for row, m in zip(per_token, mask)]).mean()


def in_double(*arguments):
    return two_sided(*arguments).double()


RIGHT = [in_double]
EQUIVALENT = {
    "surrogate: return torch.minimum(clipped, free)": "the smaller of two is the same in any order",
}
