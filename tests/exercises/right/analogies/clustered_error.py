"""Right errors of a mean over clusters."""

import torch

from shared.statistics import cluster_sums


def ORACLE(rewards, pairs):
    sums, sizes = cluster_sums(rewards - rewards.mean(), pairs)
    return (sums.square().sum().sqrt() / sizes.sum()).item()


def with_a_matrix(rewards, pairs):
    """The sum over all pairs of rows that belong together of the product of their deviations."""
    together = torch.tensor([[float(one == other) for other in pairs] for one in pairs])
    deviations = rewards - rewards.mean()
    return (deviations @ together @ deviations).clamp(min=0).sqrt() / len(rewards)


def from_sums_of_rewards(rewards, pairs):
    names = sorted(set(pairs))
    mean = rewards.mean().item()
    total = 0.0
    for name in names:
        own = [reward for reward, pair in zip(rewards.tolist(), pairs) if pair == name]
        total += (sum(own) - len(own) * mean) ** 2
    return total**0.5 / len(rewards)


RIGHT = [with_a_matrix, from_sums_of_rewards]
EQUIVALENT = {
    "deviations: mean = rewards.double().mean()": "a tensor of one number is accepted",
    "deviations: mean = rewards.mean().item()": "rounding alone",
    "deviations: return [mean - reward for reward in rewards.tolist()]": "the sums are squared",
    "deviations: return [reward - mean for reward in rewards]": "a tensor of one number is accepted",
    "sums: found[pair] = found.get(pair, 0.0) - deviation": "the sums are squared",
}
