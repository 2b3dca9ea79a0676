"""Right ways to write the loss with one ratio for each completion."""

import torch

from shared.losses import clipped_surrogate, sequence_loss


def ORACLE(logps, old_logps, advantages, ref_logps, beta, epsilon):
    return sequence_loss(logps, old_logps, advantages, ref_logps, beta=beta, epsilon=epsilon)[0]


def as_a_loss_from_the_start(logps, old_logps, advantages, ref_logps, beta, epsilon):
    ratio = (logps - old_logps).exp()
    worse = torch.maximum(-advantages * ratio, -advantages * torch.clip(ratio, 1 - epsilon, 1 + epsilon))
    d = ref_logps - logps
    return worse.mean() + beta * (torch.expm1(d) - d).mean()


def one_after_the_other(logps, old_logps, advantages, ref_logps, beta, epsilon):
    total = 0.0
    for new, old, A, ref in zip(logps, old_logps, advantages, ref_logps):
        ratio = torch.exp(new) / torch.exp(old)
        bound = min(ratio, torch.tensor(1 + epsilon)) if A > 0 else max(ratio, torch.tensor(1 - epsilon))
        total = total + beta * (torch.exp(ref - new) - (ref - new) - 1) - bound * A
    return total / len(logps)


def by_the_helper(logps, old_logps, advantages, ref_logps, beta, epsilon):
    policy, _ = clipped_surrogate(logps, old_logps, advantages, epsilon)
    d = ref_logps - logps
    return (policy + beta * (d.exp() - d - 1)).mean()


RIGHT = [as_a_loss_from_the_start, one_after_the_other, by_the_helper]
EQUIVALENT = {"surrogate: return torch.minimum(clipped, free)": "of two numbers or truths, in any order"}
