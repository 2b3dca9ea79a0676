"""Checks that worlds, terminal states and starts make a problem that can be solved; every error says what to change."""

from collections.abc import Sequence

import numpy as np

from shared.irl.worlds import PerState, Transitions


def check_problem(transitions: Transitions, terminal: Sequence[int], p_initial: PerState) -> np.ndarray:
    """The terminal states as (S,) booleans, of a problem that can be solved.

    Raises ValueError when the terminal states are none or out of range, when `p_initial` is no distribution
    over the states, or when the walk can get into a state from which no terminal state can be reached.
    """
    ends = check_terminal(transitions.n_states, terminal)
    p_initial = np.asarray(p_initial, dtype=float)
    if p_initial.shape != ends.shape or (p_initial < 0).any() or not np.isclose(p_initial.sum(), 1.0):
        raise ValueError(
            f"The initial probabilities must be {transitions.n_states} numbers of at least 0 that sum to 1; "
            f"found the shape {p_initial.shape} and the sum {p_initial.sum():.6g}."
        )
    leaving = (transitions.probabilities > 0).any(axis=2) & ~ends[:, None]  # (S, K); in a terminal state a walk stops
    stuck = np.flatnonzero(entered(transitions, leaving, p_initial > 0) & ~_arriving(transitions, ends))
    if len(stuck):
        raise ValueError(
            f"No terminal state can be reached from state {stuck[0]} ({len(stuck)} such states can be entered), "
            "so walks through it never end. Change the terminal states or the transitions."
        )
    return ends


def check_terminal(n_states: int, terminal: Sequence[int]) -> np.ndarray:
    """The terminal states as (S,) booleans. Raises ValueError when they are none or out of range."""
    terminal = np.asarray(terminal, dtype=int)
    if terminal.size == 0:
        raise ValueError("There is no terminal state: name at least one.")
    if terminal.min() < 0 or terminal.max() >= n_states:
        raise ValueError(f"The terminal states {terminal.tolist()} must lie between 0 and {n_states - 1}.")
    return _mark(n_states, terminal)


def check_discount(discount: float) -> None:
    """Raises ValueError for a discount outside [0, 1)."""
    if not 0.0 <= discount < 1.0:
        raise ValueError(f"The discount must be at least 0 and below 1, or values may not settle; found {discount}.")


def entered(transitions: Transitions, possible: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Every state (S,) that possible moves (S, K) lead to from `starts` (S,), these included. All are booleans."""
    states = starts
    while True:
        more = states | _mark(len(states), transitions.successors[possible & states[:, None]])
        if (more == states).all():
            return states
        states = more


def _arriving(transitions: Transitions, ends: np.ndarray) -> np.ndarray:
    """Every state from which some actions, with luck, lead to a terminal state. All (S,) booleans."""
    possible = (transitions.probabilities > 0).any(axis=2)  # (S, K)
    states = ends
    while True:
        more = states | (possible & states[transitions.successors]).any(axis=1)
        if (more == states).all():
            return states
        states = more


def _mark(n: int, indices: np.ndarray) -> np.ndarray:
    """(n,) booleans, true at the indices."""
    marked = np.zeros(n, dtype=bool)
    marked[indices] = True
    return marked
