"""Right reverse KL of a token."""

import torch
from torch.distributions import Categorical

from shared.kl import exact_kl

ORACLE = exact_kl


def by_distributions(logits, teacher_logits):
    return torch.distributions.kl_divergence(Categorical(logits=logits), Categorical(logits=teacher_logits))


def by_torch(logits, teacher_logits):
    """torch names the distribution that comes second the target, and takes the KL of that."""
    logps, teacher_logps = logits.log_softmax(-1), teacher_logits.log_softmax(-1)
    return torch.nn.functional.kl_div(teacher_logps, logps, reduction="none", log_target=True).sum(-1)


def looped(logits, teacher_logits):
    rows = []
    for one, other in zip(logits, teacher_logits):
        logps = torch.log_softmax(one, dim=-1)
        rows.append((logps.exp() * logps).sum(-1) - (logps.exp() * torch.log_softmax(other, dim=-1)).sum(-1))
    return torch.stack(rows)


RIGHT = [by_distributions, by_torch, looped]
