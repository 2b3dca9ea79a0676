"""A walk through a world of few states, as inverse reinforcement learning demonstrates it.

It stands outside of `shared/irl/`: who imports a walk does not import the planners and what they find.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int


@dataclass(frozen=True)
class Trajectory:
    """One demonstration: `steps` (T, 3) of state, action, next state; each starts where the last one ended."""

    steps: Int[np.ndarray, "T 3"]

    def __post_init__(self):
        steps = np.asarray(self.steps)
        if steps.ndim != 2 or steps.shape[1] != 3 or len(steps) == 0:
            raise ValueError("A trajectory needs at least one step (state, action, next state).")
        if (steps[1:, 0] != steps[:-1, 2]).any():
            raise ValueError("A step of this trajectory does not start where the one before it ended.")
        object.__setattr__(self, "steps", steps)

    def __repr__(self) -> str:
        return f"walk {'-'.join(map(str, self.states().tolist()))}"

    def transitions(self) -> list[tuple[int, int, int]]:
        return [tuple(step) for step in self.steps.tolist()]

    def states(self) -> Int[np.ndarray, "T_plus_1"]:
        """All states in order, the last one included."""
        return np.append(self.steps[:, 0], self.steps[-1, 2])
