"""Right ways to write PPO's objective as a loss."""

import torch

from shared.losses import clipped_surrogate, masked_mean


def ORACLE(
    logps, old_logps, advantages, completion_mask, critic_loss, entropy, kl, epsilon, value_coef, entropy_coef, beta
):
    surrogate, _ = clipped_surrogate(logps, old_logps, advantages, epsilon)
    policy, unsure, distance = (masked_mean(term, completion_mask) for term in (surrogate, entropy, kl))
    return policy + value_coef * critic_loss - entropy_coef * unsure + beta * distance


def larger_of_losses(logps, old, A, mask, critic, entropy, kl, epsilon, c_v, c_e, beta):
    ratio = torch.where(mask == 1, logps - old, 0.0).exp()
    worst = torch.maximum(-A * ratio, -A * ratio.clamp(1 - epsilon, 1 + epsilon))
    per_token = (worst + beta * kl - c_e * entropy).masked_fill(mask == 0, 0.0)
    return c_v * critic + per_token.sum() / mask.sum()


def in_double(logps, *arguments):
    return larger_of_losses(logps.double(), *arguments)


RIGHT = [in_double]
EQUIVALENT = {
    "surrogate: return torch.minimum(clipped, free)": "the smaller of two is the same in any order",
}
