"""Right backward passes."""

import numpy as np

from shared import irl


def ORACLE(P, terminal, reward):
    return irl.local_action_probabilities(P, terminal, reward)


def with_matrices(P, terminal, reward):
    S, _, A = P.shape
    z = np.isin(np.arange(S), terminal).astype(float)
    for _ in range(2 * S):
        per_action = np.stack([np.exp(reward) * (P[:, :, a] @ z) for a in range(A)], axis=1)
        z = per_action.sum(axis=1)
    return per_action / per_action.sum(axis=1)[:, None]


def state_by_state(P, terminal, reward):
    S, _, A = P.shape
    z = [1.0 if s in terminal else 0.0 for s in range(S)]
    for _ in range(2 * S):
        table = [[np.exp(reward[s]) * sum(P[s, t, a] * z[t] for t in range(S)) for a in range(A)] for s in range(S)]
        z = [sum(row) for row in table]
    return np.array([[value / sum(row) for value in row] for row in table])


RIGHT = [with_matrices, state_by_state]
SCALED = "Z may be scaled by any factor: the policy is a ratio"
EQUIVALENT = {
    'start: """Z before the first sweep."""\n    z = np.zeros(len(reward))\n    z[terminal] = 2.0\n    return z': SCALED,
    'partition: """Z(s, a) after all sweeps."""\n    z = start\n    for _ in range(sweeps):\n        z_action = paid[:, None] '
    "* np.einsum('sta,t->sa', forward, z)\n        z = z_action.mean(axis=1)\n    return z_action": SCALED,
}
