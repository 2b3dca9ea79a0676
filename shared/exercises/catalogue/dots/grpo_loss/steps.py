"""The clipped GRPO loss in steps, from the ratio of each token to one number."""

import torch

from shared.exercises.catalogue.dots.grpo_loss import clipping, ratio
from shared.exercises.steps import Steps

STEPS = Steps()


for step in (ratio.log_ratio, ratio.ratio, clipping.clipped_ratio):
    STEPS.step(step)


@STEPS.step
def token_advantages(advantages):
    return advantages[:, None]


@STEPS.step
def free(ratio, token_advantages):
    return ratio * token_advantages


@STEPS.step
def clipped(clipped_ratio, token_advantages):
    return clipped_ratio * token_advantages


STEPS.step(clipping.surrogate)


@STEPS.step
def log_r(logps, ref_logps):
    return ref_logps - logps


@STEPS.step
def token_kl(log_r):
    return torch.exp(log_r) - log_r - 1


@STEPS.step
def penalty(token_kl, beta):
    return beta * token_kl


@STEPS.step
def per_token(surrogate, penalty):
    return penalty - surrogate


@STEPS.step
def per_completion(per_token, completion_mask):
    return (per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.step
def loss(per_completion):
    return per_completion.mean()
