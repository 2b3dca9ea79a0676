"""Right errors of a mean over clusters."""

from shared.statistics import cluster_sums


def ORACLE(rewards, pairs):
    sums, sizes = cluster_sums(rewards - rewards.mean(), pairs)
    return (sums.square().sum().sqrt() / sizes.sum()).item()


EQUIVALENT = {
    "deviations: mean = rewards.double().mean()": "rounding alone",
    "deviations: return [reward - mean for reward in rewards]": "the same numbers, as tensors",
    "deviations: mean = rewards.mean().item()": "rounding alone",
    "deviations: return [mean - reward for reward in rewards.tolist()]": "the sums are squared",
    "sums: found[pair] = found.get(pair, 0.0) - deviation": "the sums are squared",
}
