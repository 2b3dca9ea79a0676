"""Right rewards of a walk."""

import numpy as np

ORACLE = None


def looped(reward, trajectory):
    total = 0.0
    for state in trajectory.states():
        total += reward[state]
    return total


def by_counts(reward, trajectory):
    return np.bincount(trajectory.states(), minlength=len(reward)) @ reward


RIGHT = [looped, by_counts]
