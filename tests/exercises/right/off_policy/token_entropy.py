"""Right entropies of the next token."""

import torch


def ORACLE(logits):
    return torch.distributions.Categorical(logits=logits).entropy()
