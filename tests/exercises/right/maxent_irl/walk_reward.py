"""Right ways to add up the reward of a walk."""

import numpy as np

ORACLE = None  # the package works with expected visits and never needs the reward of one walk


def indexed(reward, trajectory):
    return float(reward[trajectory.states()].sum())


def in_a_loop(reward, trajectory):
    return sum(reward[state] for state in trajectory.states())


def by_visits(reward, trajectory):
    return np.bincount(trajectory.states(), minlength=len(reward)) @ reward


RIGHT = [indexed, in_a_loop, by_visits]
