"""Right errors of a mean over clusters."""

from shared.statistics import cluster_sums


def ORACLE(rewards, pairs):
    sums, sizes = cluster_sums(rewards - rewards.mean(), pairs)
    return (sums.square().sum().sqrt() / sizes.sum()).item()


EQUIVALENT = {
    "deviations: mean = rewards.double().mean()": "a tensor of one number is accepted",
    "deviations: mean = rewards.mean().item()": "rounding alone",
    "deviations: return [mean - reward for reward in rewards.tolist()]": "the sums are squared",
    "deviations: return [reward - mean for reward in rewards]": "a tensor of one number is accepted",
    "sums: found[pair] = found.get(pair, 0.0) - deviation": "the sums are squared",
}
