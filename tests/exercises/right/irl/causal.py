"""Right policies of maximum causal entropy."""

import numpy as np

ORACLE = None  # `shared.irl.causal_policy` sweeps until nothing changes, the exercise as often as it is told


def with_logaddexp(P, terminal, reward, discount, sweeps=300):
    value = np.zeros(len(reward))
    for _ in range(sweeps):
        value[terminal] = reward[terminal]
        q = reward[:, None] + discount * np.einsum("sta,t->sa", P, value)
        value = np.logaddexp.reduce(q, axis=1)
    return np.exp(q - value[:, None])


def as_a_softmax(P, terminal, reward, discount, sweeps=300):
    S, _, A = P.shape
    value = np.zeros(S)
    for _ in range(sweeps):
        for state in terminal:
            value[state] = reward[state]
        q = np.stack([reward + discount * P[:, :, a] @ value for a in range(A)], axis=1)
        top = q.max(axis=1)
        value = top + np.log(np.exp(q - top[:, None]).sum(axis=1))
    powers = np.exp(q - q.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


RIGHT = [with_logaddexp, as_a_softmax]
