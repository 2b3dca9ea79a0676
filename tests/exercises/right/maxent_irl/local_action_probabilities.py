"""Right backward passes."""

import numpy as np

from shared import irl


def ORACLE(P, terminal, reward):
    return irl.local_action_probabilities(P, terminal, reward)


def by_einsum(P, terminal, reward):
    z = np.zeros(len(reward))
    z[terminal] = 1.0
    for _ in range(2 * len(reward)):
        z_action = np.exp(reward)[:, None] * np.einsum("sta,t->sa", P, z)
        z = z_action.sum(axis=1)
    return z_action / z[:, None]


def in_loops(P, terminal, reward):
    S, _, A = P.shape
    z = [1.0 if s in terminal else 0.0 for s in range(S)]
    for _ in range(2 * S):
        z_action = [[np.exp(reward[s]) * sum(P[s, t, a] * z[t] for t in range(S)) for a in range(A)] for s in range(S)]
        z = [sum(row) for row in z_action]
    return np.array(z_action) / np.array(z)[:, None]


def in_logarithms(P, terminal, reward):
    with np.errstate(divide="ignore"):
        log_z = np.log(np.isin(np.arange(len(reward)), terminal).astype(float))
        log_P = np.log(P)
        for _ in range(2 * len(reward)):
            log_za = reward[:, None] + np.logaddexp.reduce(log_P + log_z[None, :, None], axis=1)
            log_z = np.logaddexp.reduce(log_za, axis=1)
    return np.exp(log_za - log_z[:, None])


RIGHT = [by_einsum, in_loops, in_logarithms]
EQUIVALENT = {
    "start: z[terminal] = 2.0": "sweeps are linear: all of Z is twice as large, and the policy is a quotient of two Z",
    "partition: z = z_action.mean(axis=1)": "all of Z is divided by the number of actions in each sweep; the quotient stays",
}
UNTOLD = {("one_sweep_less", "one_sweep_more"): "one less and one more make the right number"}
