"""Right policies of maximum causal entropy."""

import numpy as np

from shared import irl


def ORACLE(P, terminal, reward, discount, sweeps):
    return irl.causal_policy(P, terminal, reward, discount)[0]


def by_logaddexp(P, terminal, reward, discount, sweeps):
    value = np.zeros(len(reward))
    for _ in range(sweeps):
        value[terminal] = reward[terminal]
        q = reward[:, None] + discount * np.einsum("sta,t->sa", P, value)
        value = np.logaddexp.reduce(q, axis=1)
    return np.exp(q - value[:, None])


def with_the_largest_taken_out(P, terminal, reward, discount, sweeps):
    value = np.where(np.isin(np.arange(len(reward)), terminal), reward, 0.0)
    for _ in range(sweeps):
        q = reward[:, None] + discount * (P * value[None, :, None]).sum(axis=1)
        top = q.max(axis=1)
        soft = top + np.log(np.exp(q - top[:, None]).sum(axis=1))
        value = np.where(np.isin(np.arange(len(reward)), terminal), reward, soft)
    weights = np.exp(q - q.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


RIGHT = [by_logaddexp, with_the_largest_taken_out]
