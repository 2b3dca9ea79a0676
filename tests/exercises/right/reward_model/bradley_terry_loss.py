"""Right losses of a reward model."""

import torch

from shared.losses import preference_loss


def ORACLE(chosen, rejected):
    return preference_loss(chosen, rejected)[0]


def by_softplus(chosen, rejected):
    return torch.nn.functional.softplus(rejected - chosen).mean()


def as_a_cross_entropy(chosen, rejected):
    labels = torch.zeros(len(chosen), dtype=torch.long)
    return torch.nn.functional.cross_entropy(torch.stack([chosen, rejected], dim=1), labels)


def by_log_softmax(chosen, rejected):
    return -torch.log_softmax(torch.stack([chosen, rejected]), dim=0)[0].mean()


def with_binary_labels(chosen, rejected):
    ones = torch.ones_like(chosen)
    return torch.nn.functional.binary_cross_entropy_with_logits(chosen - rejected, ones)


RIGHT = [by_softplus, as_a_cross_entropy, by_log_softmax, with_binary_labels]
