"""Right ways to average the features of demonstrations."""

from shared import irl


def ORACLE(features, trajectories):
    return irl.feature_expectation_from_trajectories(features, trajectories)
