"""Right ways to accumulate generalised advantages."""

import torch

from shared import advantages


def ORACLE(rewards, values, completion_mask, lam):
    return advantages.gae(rewards, values, completion_mask, lam)[0]


def token_by_token(rewards, values, mask, lam):
    result = torch.zeros_like(rewards)
    for b in range(rewards.size(0)):
        n = int(mask[b].sum())
        running = 0.0
        for t in reversed(range(n)):
            following = values[b, t + 1] if t + 1 < n else 0.0
            running = rewards[b, t] + following - values[b, t] + lam * running
            result[b, t] = running
    return result


def by_matrix(rewards, values, mask, lam):
    C = rewards.size(1)
    values = values * mask
    deltas = (rewards * mask + torch.nn.functional.pad(values, (0, 1))[:, 1:] - values) * mask
    steps = torch.arange(C)[:, None] - torch.arange(C)
    weights = torch.where(steps >= 0, torch.tensor(float(lam)) ** steps.clamp(min=0), 0.0)
    return torch.einsum("bt,ts->bs", deltas, weights)


def from_returns(rewards, values, mask, lam):
    rewards = rewards.masked_fill(mask == 0, 0.0)
    values = values.masked_fill(mask == 0, 0.0)
    following = torch.roll(values, -1, dims=1)
    following[:, -1] = 0.0
    target = torch.zeros(len(rewards))
    targets = []
    for t in range(rewards.size(1) - 1, -1, -1):
        target = rewards[:, t] + (1 - lam) * following[:, t] + lam * target
        targets.insert(0, target)
    return (torch.stack(targets, dim=1) - values) * mask


def in_double(rewards, values, mask, lam):
    return token_by_token(rewards.double(), values.double(), mask, lam)


RIGHT = [token_by_token, by_matrix, from_returns, in_double]
EQUIVALENT = {
    "real_rewards: return rewards": "the deltas are masked again",
    "accumulated: running = torch.zeros_like(real_deltas[:, -1])": "of the column only the shape counts",
    "real_deltas: return deltas": "rewards, values and the next value are 0 in the padding already",
}
