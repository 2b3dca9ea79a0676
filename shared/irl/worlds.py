"""Grid worlds and other transition probabilities, as arrays over the few states that can follow a state.

The handout keeps a table (S, S, A) of every state against every state. A state has few successors, so that
(S, K) successors and their probabilities say the same and nothing has to loop over states or actions.
Derived in notebooks/maxent_irl.ipynb.

Shapes, in all of `shared.irl`: S states, A actions, K successors of a state, F features, N demonstrations.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int

MOVES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])  # (dx, dy) of the actions right, left, up, down

Table = Float[np.ndarray, "S S A"]  # table[s, s', a] = p(s' | s, a)
PerState = Float[np.ndarray, "S"]
Policy = Float[np.ndarray, "S A"]


@dataclass(frozen=True)
class Transitions:
    """p(next | state, action), kept for the K states that can follow a state.

    successors: (S, K) the states that can follow.
    probabilities: (S, K, A) how likely each of them is under each action.
    """

    successors: Int[np.ndarray, "S K"]
    probabilities: Float[np.ndarray, "S K A"]

    def __post_init__(self):
        if self.successors.ndim != 2 or self.probabilities.shape[:2] != self.successors.shape:
            raise ValueError(
                "Successors (S, K) and probabilities (S, K, A) do not fit together: "
                f"{self.successors.shape} and {self.probabilities.shape}."
            )
        if self.successors.min() < 0 or self.successors.max() >= self.n_states:
            raise ValueError(f"A successor lies outside the states 0 to {self.n_states - 1}.")
        sums = self.probabilities.sum(axis=1)
        wrong = ~np.isclose(sums, 1.0, atol=1e-8) | (self.probabilities < 0).any(axis=1)
        if wrong.any():
            state, action = np.argwhere(wrong)[0]
            raise ValueError(
                f"The transition probabilities of state {state} and action {action} sum to "
                f"{sums[state, action]:.6g} or hold a negative number ({wrong.sum()} such pairs). "
                "Each pair needs a distribution over next states."
            )

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """The same from the handout's form. Raises ValueError for rows that are no distribution."""
        table = np.asarray(table, dtype=float)
        if table.ndim != 3 or table.shape[0] != table.shape[1]:
            raise ValueError(f"A transition table has the shape (states, states, actions); this one has {table.shape}.")
        possible = (table != 0).any(axis=2)
        width = max(1, possible.sum(axis=1).max())
        successors = np.argsort(~possible, axis=1, kind="stable")[:, :width]
        return cls(successors, np.take_along_axis(table, successors[:, :, None], axis=1))

    @property
    def n_states(self) -> int:
        return self.probabilities.shape[0]

    @property
    def n_actions(self) -> int:
        return self.probabilities.shape[2]

    def table(self) -> Table:
        """The handout's form, every state against every state."""
        table = np.zeros((self.n_states, self.n_states, self.n_actions))
        np.add.at(table, (np.arange(self.n_states)[:, None], self.successors), self.probabilities)
        return table

    def expect(self, values: PerState) -> Float[np.ndarray, "S A"]:
        """The expected value of the next state, sum_s' p(s' | s, a) values[s']."""
        return np.einsum("ska,sk->sa", self.probabilities, values[self.successors])

    def log_expect(self, log_values: PerState) -> Float[np.ndarray, "S A"]:
        """log sum_s' p(s' | s, a) exp(log_values[s']); -inf is the logarithm of 0."""
        possible = (self.probabilities > 0).any(axis=2)
        following = np.where(possible, log_values[self.successors], -np.inf)  # (S, K)
        top = following.max(axis=1, keepdims=True)
        top[~np.isfinite(top)] = 0.0
        with np.errstate(divide="ignore"):
            return np.log(np.einsum("ska,sk->sa", self.probabilities, np.exp(following - top))) + top

    def under(self, policy: Policy) -> Float[np.ndarray, "S K"]:
        """p(successor | state) when the policy chooses the actions."""
        return np.einsum("ska,sa->sk", self.probabilities, policy)

    def push(self, mass: PerState, chain: Float[np.ndarray, "S K"]) -> PerState:
        """The probability mass on the states one step later; `chain` is what `under` returned."""
        moved = mass[:, None] * chain
        return np.bincount(self.successors.ravel(), weights=moved.ravel(), minlength=self.n_states)


def as_transitions(p_transition: Transitions | Table) -> Transitions:
    return p_transition if isinstance(p_transition, Transitions) else Transitions.from_table(p_transition)


def grid_world(size: int, slip: float = 0.0) -> Transitions:
    """A square of size x size fields; state y * size + x, actions right, left, up, down as in `MOVES`.

    A move against the border stays where it is. With probability `slip` the ice chooses the direction, each
    of the four alike (the intended one included), so that p = (1 - slip) [intended] + slip / 4 sum over
    directions: a distribution everywhere, corners included, without a case for them. Raises ValueError for a
    size below 2 and a slip outside [0, 1].
    """
    if size < 2:
        raise ValueError(f"A grid world needs a size of at least 2, not {size}.")
    if not 0.0 <= slip <= 1.0:
        raise ValueError(f"The slip probability must lie between 0 and 1; found {slip}.")
    states = np.arange(size * size)
    fields = np.stack([states % size, states // size], axis=1)  # (S, 2) x and y
    targets = fields[:, None] + MOVES  # (S, A, 2)
    inside = ((targets >= 0) & (targets < size)).all(axis=2)
    reached = np.where(inside, targets @ (1, size), states[:, None])  # (S, A)
    # Direction d is successor d, so that a corner simply lists itself twice.
    directions = (1.0 - slip) * np.eye(4) + slip / 4  # (K, A)
    return Transitions(reached, np.broadcast_to(directions, (size * size, 4, 4)).copy())
