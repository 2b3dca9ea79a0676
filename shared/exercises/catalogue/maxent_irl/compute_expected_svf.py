"""The forward pass: `compute_expected_svf(P, p_initial, terminal, reward) -> visits`, (S,)."""

import numpy as np

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.worlds import (
    Start,
    States,
    Table,
    corridor,
    drawn_numbers,
    drawn_share,
    drawn_world,
    ends_somewhere,
    fork,
    smaller_worlds,
)
from shared.exercises.catalogue.maxent_irl import local_action_probabilities as backward
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def policy(P, terminal, reward):
    return backward.EXERCISE.reference()(P, terminal, reward)


@STEPS.step
def moving(P, policy):
    """The probability of going from s to s', (S, S)."""
    return np.einsum("sa,sta->st", policy, P)


@STEPS.step
def chain(moving, terminal):
    """The same, but who has arrived does not move on."""
    chain = moving.copy()
    chain[terminal] = 0.0
    return chain


@STEPS.step
def start(p_initial):
    return p_initial


@STEPS.step
def counts(reward):
    """The number of distributions that are added up, the first one included."""
    return 2 * len(reward)


@STEPS.step
def carried(chain, start, counts):
    """(counts, S): where the walker is at each time."""
    rows = [start]
    for _ in range(counts - 1):
        rows.append(rows[-1] @ chain)
    return np.stack(rows)


@STEPS.step
def visits(carried):
    return carried.sum(axis=0)


@STEPS.slip(
    "chain",
    "Who has arrived walks on: the terminal states are counted again at every later time. Let nothing leave them "
    "(their row of the chain is 0).",
)
def terminal_states_walk_on(moving):
    return moving


@STEPS.slip(
    "chain", "The terminal states' visits are not counted: who arrives is taken away. They receive, and do not pass on."
)
def arrivals_not_counted(moving, terminal):
    chain = moving.copy()
    chain[:, terminal] = 0.0
    return chain


@STEPS.slip("carried", "The first distribution, p_initial, is not counted: the walk's first state is a visit too.")
def start_not_counted(chain, start, counts):
    rows = [start]
    for _ in range(counts - 1):
        rows.append(rows[-1] @ chain)
    return np.stack([0 * start, *rows[1:]])


@STEPS.slip("counts", "You count one time too many: D_0 to D_(2S - 1) are 2 S distributions, p_initial among them.")
def one_count_more(counts):
    return counts + 1


@STEPS.slip("counts", "You count one time too few: D_0 to D_(2S - 1) are 2 S distributions, p_initial among them.")
def one_count_less(counts):
    return counts - 1


@STEPS.slip("counts", "You count S times; walks with a detour take longer, and 2 S times are asked for.")
def half_of_the_counts(reward):
    return len(reward)


@STEPS.slip("visits", "You return where the walker is at the end. Visits are summed over all times.")
def last_time_only(carried):
    return carried[-1]


@STEPS.slip("visits", "You return the mean over time. Visits are a sum: how often a state is seen in a walk.")
def averaged_over_time(carried):
    return carried.mean(axis=0)


@STEPS.slip("visits", "You divide by the total, so that all states' visits sum to 1. They sum to the length of a walk.")
def made_to_sum_to_one(visits):
    return visits / visits.sum()


@STEPS.slip("moving", "The chain is read the wrong way round: D_t(s') sums over the states s that lead to it.")
def chain_backwards(moving):
    return moving.T


@STEPS.slip("policy", "The policy is not used: every action is taken as likely as the others, whatever the reward.")
def uniform_policy(policy):
    return np.full_like(policy, 1 / policy.shape[1])


@STEPS.slip(
    "policy", "The actions are summed without the policy's weights, so that the probability of moving on exceeds 1."
)
def policy_forgotten(policy):
    return np.ones_like(policy)


@STEPS.slip("start", "p_initial is not used: you start in all states alike.")
def starts_anywhere(p_initial):
    return np.full_like(p_initial, 1 / len(p_initial))


@STEPS.slip("start", "p_initial is not used: you start in state 0, whatever it says.")
def starts_in_state_0(p_initial):
    return np.eye(len(p_initial))[0]


@STEPS.slip("visits", "The visits of terminal states are set to 0 at the end. Who arrives is counted, once.")
def ends_set_to_zero(visits, terminal):
    return np.where(np.isin(np.arange(len(visits)), terminal), 0.0, visits)


@STEPS.slip(
    "carried",
    "p_initial is added at every time: walkers set off again and again. D_0 is p_initial, and the later ones come from it.",
)
def setting_off_again(chain, start, counts):
    rows = [start]
    for _ in range(counts - 1):
        rows.append(start + rows[-1] @ chain)
    return np.stack(rows)


@STEPS.slip(
    "policy", "The likeliest action is taken for certain. Weight each with the policy: sum over a of D(s) pi(a | s) p."
)
def likeliest_action(policy):
    return np.eye(policy.shape[1])[policy.argmax(axis=1)]


@STEPS.slip(
    "chain",
    "Only the step from a terminal state to itself is taken out: who has arrived may still walk out of it. Set the whole "
    "row to 0.",
)
def staying_alone_taken_out(moving, terminal):
    chain = moving.copy()
    chain[terminal, terminal] = 0.0
    return chain


def draw(draw: Draw) -> Case:
    world = drawn_world(draw)
    S = len(world["P"])
    return {"P": world["P"], "p_initial": drawn_share(draw, S), "terminal": world["terminal"]} | {
        "reward": drawn_numbers(draw, S)
    }


def boundary() -> list[Case]:
    line = corridor(3)
    first = np.array([1.0, 0.0, 0.0])
    return [
        _case(corridor(1), np.ones(1), np.zeros(1)),
        _case(line, first, np.zeros(3)),
        _case(line, np.array([0.0, 0.5, 0.5]), np.zeros(3)),
        _case(fork(3), first, np.zeros(3)),
        _case(fork(3), first, np.array([0.5, -1.0, 1.0])),
        _case(fork(3), first, np.array([1.0, -2.0, 4.0])),
    ]


def _case(world: dict, p_initial: np.ndarray, reward: np.ndarray) -> Case:
    return {"P": world["P"], "p_initial": p_initial, "terminal": world["terminal"], "reward": reward}


EXERCISE = Exercise(
    name="expected visits",
    function="compute_expected_svf",
    contract="`f(P (S, S, A), p_initial (S,), terminal, reward (S,)) -> visits (S,)`, the forward pass.",
    steps=STEPS,
    arguments={"P": Table(), "p_initial": Start(), "terminal": States(), "reward": Numbers()},
    result=ArrayOf("S"),
    draw=draw,
    draws=119,
    long=30,
    boundary=boundary,
    valid=ends_somewhere,
    smaller=lambda case: list(smaller_worlds(case)),
    needs=(backward.EXERCISE,),
)
