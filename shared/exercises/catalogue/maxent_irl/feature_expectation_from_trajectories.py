"""Demonstrated features: `feature_expectation_from_trajectories(features, trajectories) -> means`, (F,)."""

import numpy as np

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.worlds import Walks, drawn_numbers, drawn_walk, walk_through
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ArrayOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def visited(trajectories):
    """The states of each walk."""
    return [trajectory.states() for trajectory in trajectories]


@STEPS.step
def sums(features, visited):
    """(N, F): the summed features of each walk."""
    return np.stack([features[states].sum(axis=0) for states in visited])


@STEPS.step
def total(sums):
    return sums.sum(axis=0)


@STEPS.step
def count(trajectories):
    return len(trajectories)


@STEPS.step
def means(total, count):
    return total / count


@STEPS.slip(
    "visited", "The last state of each walk is left out. `states()` has it; the first column of `steps` has not."
)
def last_state_left_out(visited):
    return [states[:-1] for states in visited]


@STEPS.slip("visited", "The first state of each walk is left out: you take the next states of the steps only.")
def first_state_left_out(visited):
    return [states[1:] for states in visited]


@STEPS.slip("visited", "A state that a walk visits twice is counted once. Every visit counts.")
def each_state_once(visited):
    return [np.unique(states) for states in visited]


@STEPS.slip(
    "count", "You divide by the number of visits. Divide by the number of walks, so that a longer walk counts more."
)
def divided_by_visits(visited):
    return sum(len(states) for states in visited)


@STEPS.slip("count", "You do not divide by the number of walks: the result then grows with how many were shown.")
def not_divided():
    return 1


@STEPS.slip("count", "You divide by N - 1. This is a plain mean over the N walks.")
def divided_by_one_less(count):
    return max(1, count - 1)


@STEPS.slip("sums", "You average within each walk. Features are summed over a walk, then averaged over the walks.")
def averaged_within_a_walk(features, visited):
    return np.stack([features[states].mean(axis=0) for states in visited])


@STEPS.slip("total", "Only the first walk is looked at.")
def first_walk_only(sums):
    return sums[0]


@STEPS.slip("total", "Only the last walk is kept. Add to the sum inside your loop.")
def last_walk_only(sums):
    return sums[-1]


@STEPS.slip("features", "The features are not used: you count visits of states. Add up `features[s]`.")
def visits_counted(features):
    return np.eye(len(features))


@STEPS.slip("sums", "States stand in the columns of features in yours. They are its rows: `features[states]`.")
def columns_taken(features, visited):
    return np.stack([features[:, states].sum(axis=1) for states in visited])


@STEPS.slip("count", "You divide by the number of states. Divide by the number of walks.")
def divided_by_states(features):
    return len(features)


@STEPS.slip("sums", "The features of a state are added up: sum over the states of a walk, axis=0, and keep (F,).")
def features_added_up(features, visited):
    return np.stack([features[states].sum(keepdims=True)[0] for states in visited])


@STEPS.slip("visited", "Only the last state of each walk counts in yours. Every state does.")
def last_states_only(visited):
    return [states[-1:] for states in visited]


@STEPS.slip("visited", "Only the first state of each walk counts in yours. Every state does.")
def first_states_only(visited):
    return [states[:1] for states in visited]


def draw(draw: Draw) -> Case:
    S, F = draw.size(), draw.size(most=3)
    features = np.eye(S) if draw.random() < 0.3 else drawn_numbers(draw, S, F)
    return {"features": features, "trajectories": [drawn_walk(draw, S) for _ in range(draw.size())]}


def boundary() -> list[Case]:
    two = np.eye(2)
    return [
        {"features": np.ones((1, 1)), "trajectories": [walk_through(0, 0)]},
        {"features": two, "trajectories": [walk_through(0, 1)]},
        {"features": two, "trajectories": [walk_through(0, 1), walk_through(0, 0, 0, 1)]},
        {"features": np.array([[1.0, 0.5, 0.0]]), "trajectories": [walk_through(0, 0)]},
    ]


def smaller(case: Case) -> list[Case]:
    """Without one of the walks, or with a shorter one."""
    walks = case["trajectories"]
    found = [case | {"trajectories": walks[:n] + walks[n + 1 :]} for n in range(len(walks))] if len(walks) > 1 else []
    for number, walk in enumerate(walks):
        states = walk.states().tolist()
        for shorter in (states[1:], states[:-1]) if len(states) > 2 else ():
            found.append(case | {"trajectories": [*walks[:number], walk_through(*shorter), *walks[number + 1 :]]})
    return found


EXERCISE = Exercise(
    name="demonstrated features",
    function="feature_expectation_from_trajectories",
    contract="`f(features (S, F), trajectories) -> means (F,)` over the states of the trajectories.",
    steps=STEPS,
    arguments={"features": Numbers("S F"), "trajectories": Walks()},
    result=ArrayOf("F"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: max(max(walk.states()) for walk in case["trajectories"]) < len(case["features"]),
    smaller=smaller,
    shows=("shared.trajectory",),
)
