"""Optional reading: all later visits of a walk by one solve, in blocks, where summing over time would take too long.

The visits x of a walk that starts with `mass` solve x = mass + discount Q^T x, with Q the probabilities of moving
between states that are not terminal. Q has few entries in a row, and the states can be arranged in levels, by their
distance from one of them, so that every move stays in its level or changes it by one. In a world of 3 x 3 fields that
ends in field 8, seen from field 0:

    level 0: 0        level 1: 1 3        level 2: 2 4 6        level 3: 5 7

Then levels are eliminated one after the other (the block form of Gauss's elimination for a tridiagonal matrix), each by
a dense solve of its own size: at 100 x 100 fields 198 solves of at most 100 unknowns. All visits take 0.15 s there,
where 100,000 steps, which are not enough, take 10 (benchmarks/irl.md). No pivoting between levels is needed, as the
columns of 1 - discount Q^T are diagonally dominant. Time and memory depend on the widest level; where all states are
neighbours this is one dense solve.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from shared.irl.worlds import PerState, Transitions

# The share of the mass that may be lost on its way by rounding: what is left of 16 digits after walks of 1e9 steps.
TOLERANCE = 1e-6


def visits_until_arrival(
    transitions: Transitions, chain: Float[np.ndarray, "S K"], mass: PerState, discount: float
) -> PerState:
    """x = mass + discount Q^T x, the visits to all states that do not end the walk, the present one included.

    Args:
        chain: p(successor | state) as `Transitions.under` gives it, with rows of zeros where the walk ends.
        mass: where the walk is now, at least 0, and 0 where it ends.

    Raises ValueError when walks are so long, or endless, that rounding loses more than a millionth of the mass.
    """
    possible = chain > 0
    moving = possible.any(axis=1)
    levels = _levels(transitions, possible, moving & _entered(transitions, possible, mass > 0))
    visits = np.zeros_like(mass)
    try:
        for states, numbers in zip(levels, _solve(transitions, discount * chain, mass, levels)):
            visits[states] = numbers
    except np.linalg.LinAlgError:  # exactly singular: a state is never left
        visits[:] = np.nan
    arrived = transitions.push(visits, chain)[~moving].sum()
    accounted = discount * arrived + (1 - discount) * visits.sum()
    if not abs(accounted - mass.sum()) <= TOLERANCE * mass.sum():  # nan is refused too
        raise ValueError(
            "The policy hardly ever ends: its walks are too long to be counted, if they arrive at all. Look for "
            "rewards that make walking on worth more than arriving."
        )
    return visits


def _solve(
    transitions: Transitions, chain: Float[np.ndarray, "S K"], mass: PerState, levels: list[Int[np.ndarray, "_"]]
) -> list[Float[np.ndarray, "_"]]:
    """The visits to the states of each level; `chain` holds the discount.

    Going up, the visits to a level are expressed by those to the next one, own + following @ next; going down, they are
    known.
    """
    own = []
    following = []
    for number, states in enumerate(levels):
        matrix = np.eye(len(states)) - _moves(transitions, chain, states, states)
        arriving = mass[states]
        if number > 0:
            from_below = _moves(transitions, chain, levels[number - 1], states)
            matrix -= from_below @ following[-1]
            arriving = arriving + from_below @ own[-1]
        right_sides = [arriving[:, None]]
        if number + 1 < len(levels):
            right_sides.append(_moves(transitions, chain, levels[number + 1], states))
        solved = np.linalg.solve(matrix, np.concatenate(right_sides, axis=1))
        own.append(solved[:, 0])
        following.append(solved[:, 1:])

    visits = own[-1:]  # from the last level to the first
    for constant, factor in zip(own[-2::-1], following[-2::-1]):
        visits.append(constant + factor @ visits[-1])
    return visits[::-1]


def _moves(
    transitions: Transitions,
    chain: Float[np.ndarray, "S K"],
    origin: Int[np.ndarray, "V"],
    target: Int[np.ndarray, "W"],
) -> Float[np.ndarray, "W V"]:
    """The probabilities of moving from the states of one level (a column each) to those of another, both sorted."""
    successors = transitions.successors[origin]  # (V, K)
    place = np.searchsorted(target, successors).clip(max=len(target) - 1)
    column, slot = np.nonzero(target[place] == successors)
    moves = np.zeros((len(target), len(origin)))
    np.add.at(moves, (place[column, slot], column), chain[origin][column, slot])
    return moves


def _entered(transitions: Transitions, possible: Bool[np.ndarray, "S K"], starts: np.ndarray) -> np.ndarray:
    """Every state that possible moves lead to from `starts`, these included. Both (S,) booleans."""
    entered = starts.copy()
    frontier = np.flatnonzero(starts)
    while len(frontier):
        following = transitions.successors[frontier][possible[frontier]]
        frontier = np.unique(following[~entered[following]])
        entered[frontier] = True
    return entered


def _levels(
    transitions: Transitions, possible: Bool[np.ndarray, "S K"], within: np.ndarray
) -> list[Int[np.ndarray, "_"]]:
    """The states of `within` by their distance from one at the edge, where levels are narrower than in the middle.

    The edge is the state that is farthest from an arbitrary one.
    """
    arbitrary = np.flatnonzero(within)[0]
    edge = _distances(transitions, possible, within, arbitrary)[-1][0]
    return _distances(transitions, possible, within, edge)


def _distances(
    transitions: Transitions, possible: Bool[np.ndarray, "S K"], within: np.ndarray, start: int
) -> list[Int[np.ndarray, "_"]]:
    """The states of `within` by their distance from `start`, moves counting in both directions.

    Parts that no move connects follow one after the other, each from its first state on.
    """
    left = within.copy()
    level = np.array([start])
    levels = []
    while left.any():
        if not len(level):
            level = np.flatnonzero(left)[:1]
        levels.append(level)
        left[level] = False
        members = np.zeros_like(within)
        members[level] = True
        near = (possible & members[transitions.successors]).any(axis=1)
        near[transitions.successors[level][possible[level]]] = True
        level = np.flatnonzero(near & left)
    return levels
