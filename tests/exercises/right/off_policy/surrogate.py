"""Right surrogates with two bounds."""

import torch

from shared.losses import clipped_surrogate


def ORACLE(ratio, advantages, epsilon, epsilon_high):
    log_ratio = ratio.log()
    return -clipped_surrogate(log_ratio, torch.zeros_like(log_ratio), advantages[:, None], epsilon, epsilon_high)[0]


def by_sign(ratio, advantages, epsilon, epsilon_high):
    A = advantages.unsqueeze(1)
    held = torch.where(A > 0, ratio.clamp(max=1 + epsilon_high), ratio.clamp(min=1 - epsilon))
    return held * A


def stacked(ratio, adv, low, high):
    adv = adv.view(-1, 1)
    return torch.stack([ratio * adv, torch.clip(ratio, 1 - low, 1 + high) * adv]).amin(dim=0)


def looped(ratio, adv, low, high):
    rows = []
    for row, a in zip(ratio, adv):
        rows.append(torch.stack([torch.min(r * a, r.clamp(1 - low, 1 + high) * a) for r in row]))
    return torch.stack(rows)


RIGHT = [by_sign, stacked, looped]

EQUIVALENT = {
    "objective: return torch.minimum(clipped, free)": "the smaller of two is the same in any order",
}
