"""Right payments for steps from one potential to another."""

import numpy as np

ORACLE = None  # the package plans with rewards of states; tests/irl/test_shaping.py asks the payments what they are for


def by_broadcasting(potential, terminal, discount):
    potential = np.where(np.isin(np.arange(len(potential)), terminal), 0.0, potential)
    return discount * potential - potential[:, None]


def on_a_copy(potential, terminal, discount):
    phi = potential.copy()
    phi[terminal] = 0.0
    return np.subtract.outer(-phi, -discount * phi)


def step_by_step(potential, terminal, discount):
    S = len(potential)
    worth = [0.0 if s in terminal else float(potential[s]) for s in range(S)]
    return np.array([[discount * worth[t] - worth[s] for t in range(S)] for s in range(S)])


def nothing_out_of_an_end(potential, terminal, discount):
    payments = step_by_step(potential, terminal, discount)
    payments[terminal] = 0.0
    return payments


RIGHT = [by_broadcasting, on_a_copy, step_by_step, nothing_out_of_an_end]
