"""Right policies of maximum causal entropy."""

from shared import irl


def ORACLE(P, terminal, reward, discount, sweeps):
    return irl.causal_policy(P, terminal, reward, discount)[0]
