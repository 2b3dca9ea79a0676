"""Right forward KL of a token."""

import torch

from shared.kl import distillation_divergence
from tests.exercises.right.distillation.reverse_kl import by_distributions, looped


def ORACLE(logits, teacher_logits):
    return distillation_divergence(logits, teacher_logits, alpha=0.0)


def turned_round(logits, teacher_logits):
    return by_distributions(teacher_logits, logits)


def cross_entropy_less_entropy(logits, teacher_logits):
    probs = teacher_logits.softmax(-1)
    cross = -(probs * logits.log_softmax(-1)).sum(-1)
    return cross - torch.distributions.Categorical(logits=teacher_logits).entropy()


def looped_and_turned(logits, teacher_logits):
    return looped(teacher_logits, logits)


RIGHT = [turned_round, cross_entropy_less_entropy, looped_and_turned]
