"""Right losses of a distillation."""

import torch

from shared.kl import exact_kl
from shared.losses import masked_mean
from tests.exercises.right.distillation.reverse_kl import by_torch


def ORACLE(logits, teacher_logits, completion_mask):
    return masked_mean(exact_kl(logits, teacher_logits.detach()), completion_mask)


def chosen(logits, teacher_logits, completion_mask):
    with torch.no_grad():
        teacher_logps = teacher_logits.log_softmax(-1)
    return by_torch(logits, teacher_logps)[completion_mask.bool()].mean()


def one_completion_after_the_other(logits, teacher_logits, completion_mask):
    total = 0.0
    for one, other, mask in zip(logits, teacher_logits, completion_mask):
        n = int(mask.sum())
        total = total + exact_kl(one[:n], other[:n].detach()).sum()
    return total / completion_mask.sum()


RIGHT = [chosen, one_completion_after_the_other]
EQUIVALENT = {
    "teacher_logits is detached": "that is what the loss does with them",
}
