"""Right objectives of CISPO."""

import torch

from shared.losses import cispo_loss


def ORACLE(logps, old_logps, advantages, bound):
    return -cispo_loss(logps, logps - old_logps, advantages[:, None], bound)


def without_gradient(logps, old_logps, advantages, bound):
    with torch.no_grad():
        weight = torch.minimum((logps - old_logps).exp(), torch.tensor(bound))
    return weight * advantages.unsqueeze(1) * logps


def bounded_logarithm(logps, old_logps, adv, bound):
    log_ratio = (logps.detach() - old_logps).clamp(max=torch.tensor(bound).log())
    return torch.einsum("bc,b,bc->bc", log_ratio.exp(), adv, logps)


def where(logps, old, A, bound):
    ratio = torch.exp(logps.data - old)
    return torch.where(ratio > bound, bound, ratio) * A.view(-1, 1) * logps


RIGHT = [without_gradient, bounded_logarithm, where]
