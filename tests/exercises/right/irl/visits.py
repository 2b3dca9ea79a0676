"""Right forward passes."""

import numpy as np

from shared import irl


def ORACLE(P, p_initial, terminal, reward):
    return irl.compute_expected_svf(P, p_initial, terminal, reward)


def by_powers(P, p_initial, terminal, reward):
    policy = irl.local_action_probabilities(P, terminal, reward)
    chain = np.einsum("sa,sta->st", policy, P)
    chain[terminal] = 0
    steps = [np.linalg.matrix_power(chain, t) for t in range(2 * len(reward))]
    return p_initial @ sum(steps)


def state_by_state(P, p_initial, terminal, reward):
    S, _, A = P.shape
    policy = irl.local_action_probabilities(P, terminal, reward)
    now = np.array(p_initial, dtype=float)
    visits = now.copy()
    for _ in range(2 * S - 1):
        following = np.zeros(S)
        for s in range(S):
            if s in terminal:
                continue
            for a in range(A):
                following += now[s] * policy[s, a] * P[s, :, a]
        now = following
        visits += now
    return visits


RIGHT = [by_powers, state_by_state]
