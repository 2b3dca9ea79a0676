"""Maximum causal entropy: `causal_policy(P, terminal, reward, discount, sweeps) -> policy`, (S, A)."""

import numpy as np

from shared.exercises.arguments import Kind, Numbers, Scalar
from shared.exercises.catalogue.common.worlds import (
    States,
    Table,
    corridor,
    drawn_numbers,
    drawn_world,
    ends_somewhere,
    fork,
    rows_of_choice,
    smaller_worlds,
)
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()
SWEEPS = 150  # so many that the values have settled
LUCK_FOR_CHOICE = (
    "The mean over next states stands inside the logarithm: log of sum p exp(V). That takes luck for choice, as if the "
    "walker decided which way the ice pushes. Take the mean of V itself."
)


def log_sum_exp(q: np.ndarray) -> np.ndarray:
    top = q.max(axis=1)
    return top + np.log(np.exp(q - top[:, None]).sum(axis=1))


@STEPS.step
def now(reward):
    """The reward of the state in which the action is chosen."""
    return reward[:, None]


@STEPS.step
def later(discount):
    """The factor of a future value."""
    return discount


@STEPS.step
def future(P):
    """The value of what follows an action, as a function of the values of states: the mean over luck."""
    return lambda value: np.einsum("sta,t->sa", P, value)


@STEPS.step
def best(P):
    """The value of a state as a function of its actions' values."""
    return log_sum_exp


@STEPS.step
def at_the_end(terminal, reward):
    """The values of terminal states, set before every sweep."""
    return terminal, reward[terminal]


@STEPS.step
def action_values(now, later, future, best, at_the_end, sweeps):
    value = np.zeros(len(now))
    ends, worth = at_the_end
    for _ in range(sweeps):
        value[ends] = worth
        q = now + later * future(value)
        value = best(q)
    return q


@STEPS.step
def policy(action_values):
    return np.exp(action_values - log_sum_exp(action_values)[:, None])


@STEPS.slip("future", LUCK_FOR_CHOICE)
def luck_taken_for_choice(P):
    def future(value):
        top = value.max()
        return top + np.log(np.einsum("sta,t->sa", P, np.exp(value - top)))

    return future


@STEPS.slip(
    "future", "P is read the wrong way round: P[s, s', a] leads from s to s', so the mean runs over the second axis."
)
def read_backwards(P):
    return lambda value: np.einsum("tsa,t->sa", P, value)


@STEPS.slip(
    "best", "You take the best action's value: that is value iteration. The soft value is log sum exp over actions."
)
def hard_maximum(P):
    return lambda q: q.max(axis=1)


@STEPS.slip(
    "best", "You take the mean over actions where log sum exp is asked for: the policy is then not the best one."
)
def mean_over_actions(P):
    return lambda q: q.mean(axis=1)


@STEPS.slip("later", "The discount is not used.")
def discount_ignored():
    return 1.0


@STEPS.slip("discount", "The discount is written down as 0.9. Use the argument.")
def discount_hard_coded():
    return 0.9


@STEPS.slip("now", "The reward is missing from Q: Q(s, a) = r(s) + discount * the mean of V over next states.")
def reward_missing(now):
    return 0 * now


@STEPS.slip("now", "The reward has the wrong sign.")
def reward_negative(now):
    return -now


@STEPS.slip(
    "at_the_end", "The terminal states' value is 0 in your sweeps; it is their reward, V = r, for arriving is paid."
)
def nothing_for_arriving(terminal, at_the_end):
    return terminal, 0 * at_the_end[1]


@STEPS.slip(
    "at_the_end",
    "The terminal states are swept like all others, as if the walk went on from them. Set V = r there before each sweep.",
)
def walk_never_ends(at_the_end):
    return [], at_the_end[1][:0]


@STEPS.slip("policy", "You return Q. The policy is exp(Q - V).")
def action_values_returned(action_values):
    return action_values


@STEPS.slip("policy", "The actions of a state do not sum to 1: subtract the soft value V before you exponentiate.")
def not_normalised(action_values):
    return np.exp(action_values)


@STEPS.slip("policy", "You choose the best action for certain. The policy takes actions in proportion to exp(Q).")
def greedy(action_values):
    return (action_values == action_values.max(axis=1, keepdims=True)).astype(float)


@STEPS.slip(
    "policy",
    "It gives nan or infinity for large rewards: exp(1000) is no float. Subtract the largest Q of a state before exp.",
)
def unstable(action_values):
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(action_values)
        return weights / weights.sum(axis=1, keepdims=True)


@STEPS.slip(
    "best",
    "The largest Q is taken out before the exponential and not put back behind the logarithm: V = top + log of sum "
    "exp(Q - top).",
)
def largest_not_put_back(P):
    return lambda q: log_sum_exp(q) - q.max(axis=1)


@STEPS.slip(
    "best",
    "You take the mean of the exponentials where their sum is asked for: V then lacks the logarithm of the number of "
    "actions, in every sweep.",
)
def mean_of_exponentials(P):
    return lambda q: log_sum_exp(q) - np.log(q.shape[1])


@STEPS.slip(
    "policy",
    "The largest Q of all states is taken out. A state far below it then has the logarithm of 0: take out each state's "
    "own largest, `q.max(axis=1)`.",
)
def one_largest_for_all(now, later, future, at_the_end, sweeps):
    value = np.zeros(len(now))
    ends, worth = at_the_end
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(sweeps):
            value[ends] = worth
            q = now + later * future(value)
            value = q.max() + np.log(np.exp(q - q.max()).sum(axis=1))
        return np.exp(q - value[:, None])


@STEPS.slip("now", "The reward of the next state is taken. Q(s, a) has that of the state itself, r(s).")
def next_reward(P, reward):
    return np.einsum("sta,t->sa", P, reward)


@STEPS.slip("action_values", "The discount multiplies the reward as well. It belongs to the values of what follows.")
def reward_discounted(now, later, future, best, at_the_end, sweeps):
    value = np.zeros(len(now))
    ends, worth = at_the_end
    for _ in range(sweeps):
        value[ends] = worth
        q = later * (now + future(value))
        value = best(q)
    return q


@STEPS.slip(
    "later",
    "What follows does not count: V stays at 0, or there is one sweep alone. Use the V of each sweep in the next one.",
)
def future_missing():
    return 0.0


@STEPS.slip("future", "You take the best next state where the mean over luck is asked for, the sum of p V.")
def best_luck(P):
    return lambda value: np.where(P > 0, value[None, :, None], -np.inf).max(axis=1)


@STEPS.slip(
    "best",
    "e to the power of Q overflows for a large Q, and is rounded to 0 for one far below 0. Take out the largest of each "
    "state first: V = top + log of sum exp(Q - top).",
)
def largest_not_taken_out(P):
    def soft_value(q):
        with np.errstate(all="ignore"):
            return np.log(np.exp(q).sum(axis=1))

    return soft_value


@STEPS.slip("future", LUCK_FOR_CHOICE)
def luck_for_choice_kept_finite(P):
    def future(value):
        top = value.max()
        return top + np.log(np.einsum("sta,t->sa", P, np.exp(value - top)) + 1e-300)

    return future


def draw(draw: Draw) -> Case:
    world = drawn_world(draw)
    reward = drawn_numbers(draw, len(world["P"]))
    sweeps = draw.choice([SWEEPS, SWEEPS, 3, 6])
    if sweeps < SWEEPS:
        reward[world["terminal"]] = (
            0.0  # it then does not matter whether their value is set before a sweep or behind it
        )
    return world | {"reward": reward, "discount": draw.choice([0.9, 0.5, 0.7, 0.0]), "sweeps": sweeps}


def two_forks() -> dict:
    """Two worlds in one, states 0 and 1 and states 2 and 3, with no way from one to the other."""
    P = np.zeros((4, 4, 2))
    P[:2, :2] = P[2:, 2:] = fork(2)["P"]
    return {"P": P, "terminal": [1, 3]}


def boundary() -> list[Case]:
    rest = {"discount": 0.5, "sweeps": SWEEPS}
    return [
        corridor(1) | {"reward": np.ones(1)} | rest,
        fork(2) | {"reward": np.array([0.5, 1.0])} | rest | {"discount": 0.7},
        fork(3) | {"reward": np.array([0.0, 0.0, 1.0])} | rest,
        fork(3) | {"reward": np.array([-1.0, 0.5, 1.0])} | rest,
        fork(3) | {"reward": np.array([0.0, 0.0, 1.0])} | rest | {"discount": 0.9},
        fork(3) | {"reward": np.array([1000.0, 2000.0, 1000.0])} | rest,
        fork(3) | {"reward": np.array([1000.0, 1000.0, 1000.0])} | rest,
        two_forks() | {"reward": np.array([0.0, 0.0, 2000.0, 0.0])} | rest,
    ]


def call(function, case: Case):
    """The rows of states in which something is decided: exp(Q - V) with V = r is as right in a terminal one."""
    return rows_of_choice(function(*case.values()), case)


EXERCISE = Exercise(
    name="causal policy",
    function="causal_policy",
    contract="`f(P (S, S, A), terminal, reward (S,), discount, sweeps) -> policy (S, A)`.",
    steps=STEPS,
    arguments={
        "P": Table(),
        "terminal": States(),
        "reward": Numbers(),
        "discount": Scalar(usual=0.9, simple=(0.5,), most=1.0),
        "sweeps": Kind(),
    },
    result=ArrayOf("S A"),
    draw=draw,
    boundary=boundary,
    valid=ends_somewhere,
    call=call,
    smaller=lambda case: list(smaller_worlds(case)),
    draws=60,
    long=30,
)
