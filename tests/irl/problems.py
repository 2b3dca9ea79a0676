"""Small worlds and walks that the tests of inverse reinforcement learning share."""

import numpy as np

from shared import irl


def steps(*states: int) -> irl.Trajectory:
    """A trajectory through these states by action 0."""
    return irl.Trajectory(np.array([(here, 0, there) for here, there in zip(states, states[1:])]))


def one_hot(index: int, n: int) -> np.ndarray:
    return np.eye(n)[index]


def random_table(rng: np.random.Generator, n_states: int = 6, n_actions: int = 3) -> np.ndarray:
    """A table with gaps, from which the last state can always be reached."""
    table = rng.random((n_states, n_states, n_actions)) * (rng.random((n_states, n_states, n_actions)) < 0.5)
    table[:, -1] += 0.05
    return table / table.sum(axis=1, keepdims=True)


def chain_table() -> np.ndarray:
    table = np.zeros((3, 3, 2))
    table[0, 1] = table[1, 2] = table[2, 2] = 1.0
    return table
