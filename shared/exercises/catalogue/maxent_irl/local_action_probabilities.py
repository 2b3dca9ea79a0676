"""The backward pass: `local_action_probabilities(P, terminal, reward) -> pi`, (S, A)."""

import numpy as np

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.worlds import (
    States,
    Table,
    corridor,
    drawn_numbers,
    drawn_world,
    ends_somewhere,
    fork,
    smaller_worlds,
)
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def start(reward, terminal):
    """Z before the first sweep."""
    z = np.zeros(len(reward))
    z[terminal] = 1.0
    return z


@STEPS.step
def sweeps(reward):
    return 2 * len(reward)


@STEPS.step
def paid(reward):
    """exp(r(s)), the factor of a visit."""
    return np.exp(reward)


@STEPS.step
def forward(P):
    """The factor of Z in the sum over next states: P[s, s', a]."""
    return P


@STEPS.step
def partition(start, sweeps, paid, forward):
    """Z(s, a) after all sweeps."""
    z = start
    for _ in range(sweeps):
        z_action = paid[:, None] * np.einsum("sta,t->sa", forward, z)
        z = z_action.sum(axis=1)
    return z_action


@STEPS.step
def policy(partition):
    return partition / partition.sum(axis=1, keepdims=True)


@STEPS.slip(
    "sweeps",
    "Half of the sweeps are missing: with S of them walks that take a detour are not counted; 2 S are asked for.",
)
def half_of_the_sweeps(reward):
    return len(reward)


@STEPS.slip(
    "sweeps", "You make one sweep only. What lies several steps ahead is not known after one; 2 S are asked for."
)
def one_sweep():
    return 1


@STEPS.slip("sweeps", "You make one sweep too few: 2 S are asked for. Look at the end of your `range`.")
def one_sweep_less(sweeps):
    return max(sweeps - 1, 1)  # one at least, or nothing is left to give back


@STEPS.slip("sweeps", "You make one sweep too many: 2 S are asked for. Look at the end of your `range`.")
def one_sweep_more(sweeps):
    return sweeps + 1


@STEPS.slip(
    "paid", "The exponential is missing: a state's reward is a logarithm here, and a visit multiplies Z by exp(r(s))."
)
def exponential_missing(reward):
    return reward


@STEPS.slip(
    "paid", "The reward has the wrong sign: Z(s, a) is multiplied by exp(r(s)), and yours seeks what is paid least."
)
def reward_negative(reward):
    return np.exp(-reward)


@STEPS.slip("paid", "The reward is missing: you count walks, each as much as the others. Multiply by exp(r(s)).")
def reward_missing(reward):
    return np.ones(len(reward))


@STEPS.slip("start", "Z is 1 in every state at the start, and is to be 1 in the terminal states only: walks end there.")
def every_state_terminal(reward):
    return np.ones(len(reward))


@STEPS.slip(
    "partition",
    "You set Z to 1 in the terminal states again in every sweep. In this algorithm only the start is set; every state is "
    "swept alike.",
)
def terminal_set_again(start, sweeps, paid, forward):
    z = start
    for _ in range(sweeps):
        z_action = paid[:, None] * np.einsum("sta,t->sa", forward, z)
        z = np.where(start == 1, 1.0, z_action.sum(axis=1))
    return z_action


@STEPS.slip("partition", "You take the best action's Z where the sum is asked for: Z(s) = sum over a of Z(s, a).")
def best_action_only(start, sweeps, paid, forward):
    z = start
    for _ in range(sweeps):
        z_action = paid[:, None] * np.einsum("sta,t->sa", forward, z)
        z = z_action.max(axis=1)
    return z_action


@STEPS.slip(
    "forward", "P is read the wrong way round: P[s, s', a] leads from s to s', so the sum runs over the second axis."
)
def read_backwards(P):
    return P.transpose(1, 0, 2)


@STEPS.slip("policy", "You return Z(s, a) itself. Divide by Z(s), so that the actions of a state sum to 1.")
def not_divided(partition):
    return partition


@STEPS.slip("policy", "You divide by the sum over states. The *actions* of a state have to sum to 1.")
def divided_over_states(partition):
    return partition / partition.sum(axis=0, keepdims=True)


@STEPS.slip(
    "policy", "You choose the best action for certain. The policy takes each action in proportion to its Z(s, a)."
)
def greedy(partition):
    return (partition == partition.max(axis=1, keepdims=True)).astype(float)


@STEPS.slip(
    "partition",
    "Z(s) is overwritten within the sweep: later states already see the new values of earlier ones. A sweep reads the old "
    "values alone.",
)
def overwritten_in_the_sweep(start, sweeps, paid, forward):
    z = start.copy()
    z_action = np.zeros((len(z), forward.shape[2]))
    for _ in range(sweeps):
        for state in range(len(z)):
            z_action[state] = paid[state] * (z @ forward[state])
            z[state] = z_action[state].sum()
    return z_action


@STEPS.slip(
    "partition",
    "The reward of the next state is taken, exp(r(s')). Z(s, a) has that of the state itself, exp(r(s)), before the sum.",
)
def next_reward(start, sweeps, paid, forward):
    z = start
    for _ in range(sweeps):
        z_action = np.einsum("sta,t->sa", forward, paid * z)
        z = z_action.sum(axis=1)
    return z_action


@STEPS.slip(
    "policy",
    "You divide by the Z(s) of the sweep before. Z(s, a) and Z(s) are of one sweep, so that the actions sum to 1.",
)
def divided_by_the_sweep_before(start, sweeps, paid, forward):
    z = start
    for _ in range(sweeps):
        before, z_action = z, paid[:, None] * np.einsum("sta,t->sa", forward, z)
        z = z_action.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return z_action / before[:, None]


@STEPS.slip("policy", "You take a softmax of Z(s, a). It is a sum of exponentials already: divide by Z(s).")
def softmax_of_the_partition(partition):
    weights = np.exp(partition)
    return weights / weights.sum(axis=1, keepdims=True)


@STEPS.slip("policy", "You divide by the sum of the whole table. The actions of each state have to sum to 1.")
def divided_by_the_whole(partition):
    return partition / partition.sum()


@STEPS.slip(
    "partition",
    "You add 1 to the terminal states in every sweep, as another form of the algorithm does. Here Z is set once, before the "
    "first sweep.",
)
def one_added_in_every_sweep(start, sweeps, paid, forward):
    z = start
    for _ in range(sweeps):
        z_action = paid[:, None] * np.einsum("sta,t->sa", forward, z)
        z = z_action.sum(axis=1) + start
    return z_action


def draw(draw: Draw) -> Case:
    world = drawn_world(draw)
    return world | {"reward": drawn_numbers(draw, len(world["P"]))}


def boundary() -> list[Case]:
    return [
        corridor(1) | {"reward": np.array([1.0])},
        corridor(2, A=2) | {"reward": np.array([-1.0, 1.0])},
        fork(3) | {"reward": np.zeros(3)},
        fork(3) | {"reward": np.array([-1.0, 0.5, 1.0])},
        corridor(60, A=4) | {"reward": np.ones(60)},  # e^r adds up to 1e124
    ]


EXERCISE = Exercise(
    name="local action probabilities",
    function="local_action_probabilities",
    contract="`f(P (S, S, A), terminal, reward (S,)) -> policy (S, A)`, the backward pass.",
    steps=STEPS,
    arguments={"P": Table(), "terminal": States(), "reward": Numbers()},
    result=ArrayOf("S A"),
    draw=draw,
    draws=119,
    long=30,
    boundary=boundary,
    valid=ends_somewhere,
    smaller=lambda case: list(smaller_worlds(case)),
)
