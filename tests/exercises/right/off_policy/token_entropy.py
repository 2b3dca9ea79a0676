"""Right entropies of the next token."""

import torch


def ORACLE(logits):
    return torch.distributions.Categorical(logits=logits).entropy()


def log_of_the_sum(logits):
    """log Z minus the mean logit."""
    return logits.logsumexp(dim=-1) - (logits.softmax(dim=-1) * logits).sum(dim=-1)


def looped(logits):
    rows = [torch.log_softmax(row, dim=-1) for row in logits]
    return torch.stack([-(row.exp() * row).sum(dim=-1) for row in rows])


RIGHT = [log_of_the_sum, looped]
