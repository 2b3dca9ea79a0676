"""Right ways to put a step together."""

import torch

from shared.advantages import group_advantages
from shared.logps import completion_logps
from shared.losses import grpo_loss


def ORACLE(model, reference, rollout, rewards, beta, epsilon):
    logps, _ = completion_logps(model, rollout)
    with torch.no_grad():
        ref_logps, _ = completion_logps(reference, rollout)
    advantages = group_advantages(rewards, rollout.num_generations)[0]
    mask = rollout.completion_mask
    return grpo_loss(logps, rollout.old_logps, advantages, mask, ref_logps, beta=beta, epsilon=epsilon)[0]
