"""Right shares of first states."""

import numpy as np

from shared import irl

ORACLE = irl.initial_probabilities_from_trajectories


def looped(n_states, trajectories):
    shares = np.zeros(n_states)
    for walk in trajectories:
        shares[walk.states()[0]] += 1 / len(trajectories)
    return shares


def by_comparison(n_states, trajectories):
    first = np.array([walk.states()[0] for walk in trajectories])
    return (first[:, None] == np.arange(n_states)).mean(axis=0)


RIGHT = [looped, by_comparison]
EQUIVALENT = {"counts: return np.bincount(firsts, minlength=n_states)": "the division makes floats of integers"}
