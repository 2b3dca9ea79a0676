"""Demonstrated starts: `initial_probabilities_from_trajectories(n_states, trajectories) -> shares`, (S,)."""

import numpy as np

from shared.exercises.arguments import Size
from shared.exercises.catalogue.common.worlds import Walks, drawn_walk, walk_through
from shared.exercises.catalogue.maxent_irl.feature_expectation_from_trajectories import smaller
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def firsts(trajectories):
    return [int(trajectory.states()[0]) for trajectory in trajectories]


@STEPS.step
def counts(firsts, n_states):
    return np.bincount(firsts, minlength=n_states).astype(float)


@STEPS.step
def shares(counts, trajectories):
    return counts / len(trajectories)


@STEPS.slip("firsts", "You count where the walks end. Asked for is where they start.")
def ends_counted(trajectories):
    return [int(trajectory.states()[-1]) for trajectory in trajectories]


@STEPS.slip("firsts", "You count every state of the walks. Only the first one of each is where it starts.")
def all_states_counted(trajectories):
    return [int(state) for trajectory in trajectories for state in trajectory.states()]


@STEPS.slip("firsts", "You count the second state of each walk: where its first step leads.")
def second_state_counted(trajectories):
    return [int(trajectory.states()[1]) for trajectory in trajectories]


@STEPS.slip("firsts", "Only the first walk is looked at.")
def first_walk_only(firsts):
    return firsts[:1]


@STEPS.slip("shares", "You return counts. Divide by the number of walks, so that they sum to 1.")
def not_divided(counts):
    return counts


@STEPS.slip("shares", "You divide by the number of states. Divide by the number of walks.")
def divided_by_states(counts, n_states):
    return counts / n_states


@STEPS.slip("counts", "You mark which states are starts, and do not count how often.")
def marked_only(counts):
    return (counts > 0).astype(float)


@STEPS.slip(
    "counts", "States after the last start are missing. The result has one place for each of the n_states states."
)
def too_short(firsts):
    return np.bincount(firsts).astype(float)


@STEPS.slip(
    "counts",
    "The bins of the histogram span the starts that occur, not the states: give their range, or use "
    "`bincount(..., minlength=n_states)`.",
)
def bins_without_range(firsts, n_states):
    return np.histogram(firsts, bins=n_states)[0].astype(float)


@STEPS.slip("shares", "The start of the first walk stands for all. Count where each of them starts.")
def first_walk_for_all(firsts, n_states):
    return np.eye(n_states)[firsts[0]]


@STEPS.slip("shares", "Only the start of the last walk is left: count every walk's, with `+=`.")
def last_walk_for_all(firsts, n_states):
    return np.eye(n_states)[firsts[-1]]


@STEPS.slip("shares", "All states in which a walk starts get the same share. Count how many walks start in each.")
def starts_alike(counts):
    return (counts > 0) / (counts > 0).sum()


@STEPS.slip("shares", "You divide by the largest count. Divide by the number of walks, so that the shares sum to 1.")
def divided_by_the_largest(counts):
    return counts / counts.max()


@STEPS.slip("shares", "You divide without a rest, `//`: every share below 1 becomes 0. Divide with `/`.")
def without_rest(counts, trajectories):
    return counts // len(trajectories)


@STEPS.slip("shares", "All states of the walks are counted. Asked for is where they start: the first of each alone.")
def share_of_all_states(trajectories, n_states):
    states = np.concatenate([trajectory.states() for trajectory in trajectories])
    return np.bincount(states, minlength=n_states) / len(states)


def draw(draw: Draw) -> Case:
    S = draw.size()
    return {"n_states": S, "trajectories": [drawn_walk(draw, S) for _ in range(draw.size())]}


def boundary() -> list[Case]:
    return [
        {"n_states": 1, "trajectories": [walk_through(0, 0)]},
        {"n_states": 3, "trajectories": [walk_through(0, 1)]},
        {"n_states": 2, "trajectories": [walk_through(1, 0), walk_through(1, 0), walk_through(0, 1)]},
    ]


EXERCISE = Exercise(
    name="demonstrated starts",
    function="initial_probabilities_from_trajectories",
    contract="`f(n_states, trajectories) -> shares (S,)` of the states in which the trajectories start.",
    steps=STEPS,
    arguments={"n_states": Size(axis="S", usual=25), "trajectories": Walks()},
    result=ArrayOf("S"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: max(max(walk.states()) for walk in case["trajectories"]) < case["n_states"],
    smaller=smaller,
    shows=("shared.trajectory",),
)
