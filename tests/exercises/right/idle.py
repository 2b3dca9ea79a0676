"""Right ways to measure the share of idle groups."""

from shared.advantages import group_advantages


def ORACLE(rewards, num_generations):
    return group_advantages(rewards, num_generations)[1]["frac_reward_zero_std"]


def by_extremes(rewards, num_generations):
    groups = rewards.reshape(-1, num_generations)
    return (groups.amax(1) == groups.amin(1)).double().mean()


def by_sets(rewards, num_generations):
    groups = [rewards[i : i + num_generations].tolist() for i in range(0, len(rewards), num_generations)]
    return sum(len(set(group)) == 1 for group in groups) / len(groups)


RIGHT = [by_extremes, by_sets]
EQUIVALENT = {
    "share: return equal.float().mean()": "a tensor of one number is accepted",
}
