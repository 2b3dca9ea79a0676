"""Demonstrations: walks of an expert through a world until a terminal state. See notebooks/maxent_irl.ipynb."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from shared.irl.checks import check_problem
from shared.irl.worlds import PerState, Policy, Table, Transitions, as_transitions
from shared.trajectory import Trajectory

MAX_STEPS = 100_000  # a walk that has not arrived after so many steps is taken never to arrive


def generate_trajectories(
    n: int,
    p_transition: Transitions | Table,
    policy: Policy,
    p_initial: PerState,
    terminal: Sequence[int],
    rng: np.random.Generator,
) -> list[Trajectory]:
    """n demonstrations until a terminal state, all simulated side by side.

    Raises ValueError as `check_problem` does, and when a demonstration would start where it ends.
    """
    transitions = as_transitions(p_transition)
    ends = check_problem(transitions, terminal, p_initial)
    if (np.asarray(p_initial)[ends] > 0).any():
        raise ValueError("Demonstrations cannot start in a terminal state; give it no initial probability.")
    states = rng.choice(transitions.n_states, size=n, p=p_initial)
    running = np.arange(n)
    records = []  # arrays of four columns: which demonstration, state, action, next state
    for _ in range(MAX_STEPS):
        now = states[running]
        actions = _draw(policy[now], rng)
        slots = _draw(transitions.probabilities[now, :, actions], rng)
        states[running] = transitions.successors[now, slots]
        records.append(np.stack([running, now, actions, states[running]], axis=1))
        running = running[~ends[states[running]]]
        if not len(running):
            return _one_by_one(np.concatenate(records), n)
    raise ValueError(f"{len(running)} of {n} demonstrations have not arrived after {MAX_STEPS} steps.")


def _one_by_one(records: Int[np.ndarray, "R 4"], n: int) -> list[Trajectory]:
    """The steps of n demonstrations, each with its number before it and recorded in the order of time, taken apart."""
    ordered = records[np.argsort(records[:, 0], kind="stable")]
    starts = np.searchsorted(ordered[:, 0], np.arange(1, n))
    return [Trajectory(steps) for steps in np.split(ordered[:, 1:], starts)]


def _draw(probabilities: Float[np.ndarray, "N X"], rng: np.random.Generator) -> Int[np.ndarray, "N"]:
    """One index from each row."""
    sums = probabilities.cumsum(axis=1)
    return (rng.random((len(sums), 1)) * sums[:, -1:] < sums).argmax(axis=1)
