"""Right leave-one-out advantages."""

from shared.advantages import leave_one_out_advantages


def ORACLE(rewards):
    G = rewards.size(-1)
    return leave_one_out_advantages(rewards.flatten(), G)[0].view_as(rewards)
