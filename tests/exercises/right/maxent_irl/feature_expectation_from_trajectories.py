"""Right ways to average the features of demonstrations."""

import numpy as np

from shared import irl


def ORACLE(features, trajectories):
    return irl.feature_expectation_from_trajectories(features, trajectories)


def in_one_line(features, trajectories):
    return sum(features[t.states()].sum(axis=0) for t in trajectories) / len(trajectories)


def state_by_state(features, trajectories):
    result = np.zeros(features.shape[1])
    for trajectory in trajectories:
        for state in trajectory.states():
            result += features[state]
    return result / len(trajectories)


def by_visits(features, trajectories):
    visits = np.zeros(len(features))
    for trajectory in trajectories:
        np.add.at(visits, trajectory.states(), 1)
    return visits @ features / len(trajectories)


RIGHT = [in_one_line, state_by_state, by_visits]
