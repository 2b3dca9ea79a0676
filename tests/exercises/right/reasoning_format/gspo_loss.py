"""Right ways to write the loss with one ratio for each completion."""

import torch

from shared.losses import plain_grpo_loss


def ORACLE(logps, old_logps, advantages, ref_logps, beta, epsilon):
    new, old, ref = logps[:, None], old_logps[:, None], ref_logps[:, None]
    return plain_grpo_loss(new, old, advantages, torch.ones_like(new), ref, beta, epsilon)


EQUIVALENT = {"surrogate: return torch.minimum(clipped, free)": "of two numbers or truths, in any order"}
