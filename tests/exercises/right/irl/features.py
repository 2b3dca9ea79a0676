"""Right means of the features of demonstrations."""

import numpy as np

from shared import irl

ORACLE = irl.feature_expectation_from_trajectories


def by_counts(features, trajectories):
    counts = np.zeros(len(features))
    for walk in trajectories:
        np.add.at(counts, walk.states(), 1)
    return counts @ features / len(trajectories)


def looped(features, trajectories):
    total = np.zeros(features.shape[1])
    for walk in trajectories:
        for state in walk.states():
            total += features[state]
    return total / len(trajectories)


def mean_of_sums(features, trajectories):
    return np.mean([features[walk.states()].sum(0) for walk in trajectories], axis=0)


RIGHT = [by_counts, looped, mean_of_sums]
