"""Right ways to count where demonstrations start."""

import numpy as np

from shared import irl


def ORACLE(n_states, trajectories):
    return irl.initial_probabilities_from_trajectories(n_states, trajectories)


def by_bincount(n_states, trajectories):
    first = [t.states()[0] for t in trajectories]
    return np.bincount(first, minlength=n_states) / len(trajectories)


def one_by_one(n_states, trajectories):
    shares = np.zeros(n_states)
    for trajectory in trajectories:
        shares[trajectory.states()[0]] += 1 / len(trajectories)
    return shares


def mean_of_one_hot(n_states, trajectories):
    return np.eye(n_states)[[t.states()[0] for t in trajectories]].mean(axis=0)


RIGHT = [by_bincount, one_by_one, mean_of_one_hot]
EQUIVALENT = {"counts: return np.bincount(firsts, minlength=n_states)": "the division makes floats of the counts"}
