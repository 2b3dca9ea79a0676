"""Small worlds, drawn and made smaller: what the exercises of inverse reinforcement learning get."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shared.exercises.arguments import Kind
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case


@dataclass(frozen=True)
class Table(Kind):
    """P[s, s', a], the probability of s' after action a in s. `smaller_worlds` makes it smaller, with all that goes along.

    A world without luck is told by where each action leads: of S times A states less is to be read than of zeros and ones.
    """

    def amount(self, value) -> int:
        return len(value) * value.shape[2] if is_certain(value) else value.size

    def in_words(self, value) -> str:
        if not is_certain(value):
            return ""
        return f"that leads to the states {value.argmax(axis=1).tolist()} (a row a state, a column an action)"

    def is_plain(self, value) -> bool:
        return False


@dataclass(frozen=True)
class States(Kind):
    """A list of numbers of states."""

    def is_plain(self, value) -> bool:
        return False


@dataclass(frozen=True)
class Start(Kind):
    """The probability of starting in each state, one number where the start is certain."""

    def amount(self, value) -> int:
        return 1 if is_certain(value) else len(value)

    def in_words(self, value) -> str:
        return f"all in state {value.argmax()}" if is_certain(value) else ""

    def is_plain(self, value) -> bool:
        return False


def is_certain(probabilities: np.ndarray) -> bool:
    """True if nothing is left to luck."""
    return bool(np.isin(probabilities, (0.0, 1.0)).all())


def drawn_world(draw: Draw) -> dict:
    """`P` (S, S, A) and `terminal`, one state or several, anywhere: one can be reached from every state and, as in the
    notebook's corner, may be left by luck.

    With one action in two a single state follows for certain, so that a small case can be worked out by hand.
    """
    S = draw.size(most=4)
    A = draw.size(most=3)
    ends = min(draw.choice([1, 1, 2]), S)
    number = draw.sample(range(S), S)  # of each state along the way, the terminal ones last
    P = np.zeros((S, S, A))
    for place, state in enumerate(number):
        is_end = place >= S - ends
        onward = state if is_end else number[place + 1]
        for action in range(A):
            luck = draw.choice([0.0, 0.2, 0.5, draw.number(0.1, 0.9)])
            at_home = action == 0 or is_end
            P[state, onward, action] += 1 - luck if at_home else luck
            P[state, draw.randrange(S), action] += luck if at_home else 1 - luck
    return {"P": P, "terminal": number[S - ends :]}


def drawn_numbers(draw: Draw, *shape: int, least: float = -1.0, most: float = 1.0) -> np.ndarray:
    """An array of drawn numbers, as float64."""
    return draw.numbers(*shape, least=least, most=most).numpy().astype(float).round(3)


def drawn_share(draw: Draw, count: int) -> np.ndarray:
    """(count,) probabilities: all in one place, or in quarters."""
    shares = np.zeros(count)
    for _ in range(draw.choice([1, 4])):
        shares[draw.randrange(count)] += 1
    return shares / shares.sum()


def corridor(S: int, A: int = 1) -> dict:
    """A world in which every action goes on to the next state for certain; the last one is terminal and stays."""
    P = np.zeros((S, S, A))
    for state in range(S):
        P[state, min(state + 1, S - 1)] = 1.0
    return {"P": P, "terminal": [S - 1]}


def fork(S: int) -> dict:
    """A corridor with a second action, which waits in state 0: the smallest world in which a policy has a choice."""
    world = corridor(S, A=2)
    world["P"][0, :, 1] = np.eye(S)[0]
    return world


def smaller_worlds(case: Case) -> Iterator[Case]:
    """The case without a state, an action, luck in a state or luck at the start; probabilities are made to sum to 1."""
    P = case["P"]
    S, _, A = P.shape
    for state in range(S if S > 1 else 0):
        yield without_state(case, state)
    for action in range(A if A > 1 else 0):
        yield case | {"P": np.delete(P, action, axis=2)}
    for state in range(S):
        if not is_certain(P[state]):
            certain = P.copy()
            certain[state] = P[state].argmax(axis=0) == np.arange(S)[:, None]
            yield case | {"P": certain}
    if "p_initial" in case and not is_certain(case["p_initial"]):
        for state in range(S):
            yield case | {"p_initial": np.eye(S)[state]}


def without_state(case: Case, state: int) -> Case:
    """The case without a state: who would go there stays. Per-state numbers lose it, shares are scaled up again."""
    S = len(case["P"])
    kept = np.delete(np.arange(S), state)
    P = case["P"][np.ix_(kept, kept)].copy()
    lost = 1 - P.sum(axis=1)  # (S - 1, A)
    P[np.arange(S - 1), np.arange(S - 1)] += lost
    smaller = case | {"P": P, "terminal": [int(np.searchsorted(kept, s)) for s in case["terminal"] if s != state]}
    for name, value in case.items():
        if name != "P" and isinstance(value, np.ndarray) and value.ndim == 1 and len(value) == S:
            smaller[name] = value[kept]
    if "p_initial" in smaller:
        total = smaller["p_initial"].sum()
        smaller["p_initial"] = smaller["p_initial"] / total if total else np.full(S - 1, 1 / (S - 1))
    return smaller


def rows_of_choice(found, case: Case):
    """A policy (S, A) with 0 in the terminal states, where nothing is chosen; anything else as it is."""
    if not isinstance(found, np.ndarray) or found.shape != case["P"].shape[1:]:
        return found
    return np.where(np.isin(np.arange(len(found)), case["terminal"])[:, None], 0.0, found)


def ends_somewhere(case: Case) -> bool:
    """True if a terminal state can be reached from every state, and every action there may stay."""
    P = case["P"]
    ends = case["terminal"]
    if not (P[ends, ends] > 0).all():
        return False
    reached = np.isin(np.arange(len(P)), case["terminal"])
    for _ in range(len(P)):
        reached = reached | (P.sum(axis=2)[:, reached] > 0).any(axis=1)
    return bool(reached.all())
