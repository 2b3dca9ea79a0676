"""Right ratios of whole completions."""

import torch

from shared.losses import log_ratios


def ORACLE(logps, old_logps, completion_mask):
    return log_ratios(logps, old_logps, completion_mask, "sequence")[:, 0].exp()


def difference_of_means(logps, old, mask):
    lengths = mask.sum(dim=-1)
    return ((logps * mask).sum(dim=-1) / lengths - (old * mask).sum(dim=-1) / lengths).exp()


def root_of_the_product(logps, old, mask):
    ratios = torch.where(mask.bool(), (logps - old).exp(), torch.ones_like(logps))
    return ratios.prod(dim=1) ** (1 / mask.sum(dim=1))


def looped(logps, old, mask):
    rows = zip(logps, old, mask.bool())
    return torch.stack([(new[real] - before[real]).mean().exp() for new, before, real in rows])


RIGHT = [difference_of_means, root_of_the_product, looped]
