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


def in_double(rewards, values, mask, lam):
    return token_by_token(rewards.double(), values.double(), mask, lam)


RIGHT = [in_double]
EQUIVALENT = {
    "real_rewards: return rewards": "the deltas are masked again",
    "accumulated: running = torch.zeros_like(real_deltas[:, -1])": "of the column only the shape counts",
    "real_deltas: return deltas": "rewards, values and the next value are 0 in the padding already",
}
