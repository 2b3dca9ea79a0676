"""Right forward passes."""

import numpy as np

from shared import irl
from tests.exercises.right.maxent_irl.local_action_probabilities import by_einsum as local_action_probabilities


def ORACLE(P, p_initial, terminal, reward):
    return irl.compute_expected_svf(P, p_initial, terminal, reward)


def by_a_chain(P, p_initial, terminal, reward):
    chain = np.einsum("sa,sta->st", local_action_probabilities(P, terminal, reward), P)
    chain[terminal] = 0.0
    d = p_initial.astype(float)
    visits = d.copy()
    for _ in range(2 * len(reward) - 1):
        d = d @ chain
        visits += d
    return visits


def in_loops(P, p_initial, terminal, reward):
    S, _, A = P.shape
    policy = local_action_probabilities(P, terminal, reward)
    rows = [list(p_initial)]
    for _ in range(2 * S - 1):
        last = rows[-1]
        moving = [s for s in range(S) if s not in terminal]
        rows.append([sum(last[s] * policy[s, a] * P[s, t, a] for s in moving for a in range(A)) for t in range(S)])
    return np.array(rows).sum(axis=0)


def by_powers(P, p_initial, terminal, reward):
    chain = np.einsum("sa,sta->st", local_action_probabilities(P, terminal, reward), P)
    chain[terminal] = 0.0
    return sum(p_initial @ np.linalg.matrix_power(chain, n) for n in range(2 * len(reward)))


RIGHT = [by_a_chain, in_loops, by_powers]
EQUIVALENT = {"chain: chain = moving": "nothing reads the matrix again that is changed in place"}
UNTOLD = {
    ("one_count_more", "one_count_less"): "one more and one less make the right number",
    ("last_time_only", "setting_off_again"): "where the walkers of every time are in the end is the sum over times",
}
