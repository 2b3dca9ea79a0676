"""Optional reading: the forward pass until everything has arrived, however long the walks are.

Most of the probability arrives soon, and a sum over steps is quick. What is still on its way after `COUNTED` steps is
not followed further: all its later visits come from one solve (`elimination.py`), which costs about as much as these
steps. `forward_pass` in `planning.py` is the same in five lines, and the tests hold one to the other.
"""

import numpy as np
from jaxtyping import Bool, Float

from shared.irl.elimination import visits_until_arrival
from shared.irl.worlds import PerState, Transitions

COUNTED = 500


def count_visits(
    transitions: Transitions,
    chain: Float[np.ndarray, "S K"],
    mass: PerState,
    ends: Bool[np.ndarray, "S"],
    discount: float,
    eps: float,
    steps: float,
) -> PerState:
    """The visits (S,) of a walk that starts with `mass`, in at most so many `steps`, np.inf for all until arrival.

    Args:
        chain: p(successor | state), rows of zeros where the walk ends.
        eps: stop when no more than this is on its way.

    Raises ValueError when there is no limit on the steps and some of the mass never arrives.
    """
    without_limit = np.isinf(steps)
    total, moving = _step_by_step(transitions, chain, mass, ends, discount, eps, COUNTED if without_limit else steps)
    if not without_limit or moving.sum() <= eps:
        return total
    later = visits_until_arrival(transitions, chain, moving, discount)
    return total + discount * transitions.push(later, chain)


def _step_by_step(
    transitions: Transitions,
    chain: Float[np.ndarray, "S K"],
    mass: PerState,
    ends: Bool[np.ndarray, "S"],
    discount: float,
    eps: float,
    steps: float,
) -> tuple[PerState, PerState]:
    """The visits in the first `steps` times, and the mass (S,) that is on its way at the last of them."""
    arrivals = transitions.successors.T.ravel()  # (K S), long rows being faster than short ones
    chain = discount * np.ascontiguousarray(chain.T)  # (K, S)
    total = mass.copy()
    step = 1
    while True:
        moving = np.where(ends, 0.0, mass)
        if step >= steps or moving.sum() <= eps:
            return total, moving
        mass = np.bincount(arrivals, weights=(moving * chain).ravel(), minlength=len(mass))
        total += mass
        step += 1
