"""The reward of a walk: `walk_reward(reward, trajectory) -> number`."""

import numpy as np

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.worlds import Walks, drawn_numbers, drawn_walk, walk_through
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def visited(trajectory):
    return trajectory.states()


@STEPS.step
def paid(reward, visited):
    return reward[visited]


@STEPS.step
def total(paid):
    return float(paid.sum())


@STEPS.slip("visited", "The last state is left out. `trajectory.states()` has it; the first column of `steps` has not.")
def last_state_left_out(visited):
    return visited[:-1]


@STEPS.slip("visited", "The first state is left out: the next states of the steps begin with the second one.")
def first_state_left_out(visited):
    return visited[1:]


@STEPS.slip("visited", "A state that is visited twice is paid once. Every visit counts.")
def each_state_once(visited):
    return np.unique(visited)


@STEPS.slip("visited", "Only the last state is paid. Every state of the walk is.")
def last_state_only(visited):
    return visited[-1:]


@STEPS.slip("total", "You take the mean. The log-probability of a walk grows with the *sum* of its rewards.")
def averaged(paid):
    return float(paid.mean())


@STEPS.slip("total", "You take the largest reward of the walk. Asked for is their sum.")
def largest(paid):
    return float(paid.max())


@STEPS.slip("total", "You exponentiate already. The reward of a walk is the sum; exp comes when walks are compared.")
def exponentiated(total):
    return float(np.exp(total))


@STEPS.slip("total", "The sign is flipped: you return a cost.")
def sign_flipped(total):
    return -total


@STEPS.slip("paid", "Later states are discounted. This form has no discount: every state of the walk counts alike.")
def discounted(paid):
    return paid * 0.9 ** np.arange(len(paid))


@STEPS.slip("visited", "Only the first state is paid. Every state of the walk is.")
def first_state_only(visited):
    return visited[:1]


@STEPS.slip("paid", "Nothing but the numbers of the states is added up. Add up their rewards, `reward[s]`.")
def states_added_up(visited):
    return visited


@STEPS.slip("total", "You divide by the number of steps. The reward of a walk is a sum.")
def divided_by_steps(paid):
    return float(paid.sum() / (len(paid) - 1))


@STEPS.slip("total", "Every reward of the world is added up, whether the walk comes there or not.")
def all_states_paid(reward):
    return float(reward.sum())


def draw(draw: Draw) -> Case:
    S = draw.size()
    return {"reward": drawn_numbers(draw, S), "trajectory": drawn_walk(draw, S)}


def boundary() -> list[Case]:
    return [
        {"reward": np.array([1.0]), "trajectory": walk_through(0, 0)},
        {"reward": np.array([0.0, 1.0]), "trajectory": walk_through(0, 1)},
        {"reward": np.array([1.0, 0.0]), "trajectory": walk_through(0, 1)},
        {"reward": np.array([1.0, 0.5]), "trajectory": walk_through(0, 1, 0, 1)},
    ]


def smaller(case: Case) -> list[Case]:
    """Shorter walks: without the first state, or without the last one."""
    states = case["trajectory"].states().tolist()
    if len(states) <= 2:
        return []
    return [case | {"trajectory": walk_through(*shorter)} for shorter in (states[1:], states[:-1])]


EXERCISE = Exercise(
    name="reward of a walk",
    function="walk_reward",
    contract="`f(reward (S,), trajectory) -> number`, the sum over the trajectory's states.",
    steps=STEPS,
    arguments={"reward": Numbers(), "trajectory": Walks()},
    result=Number(),
    draw=draw,
    boundary=boundary,
    smaller=smaller,
    shows=("shared.trajectory",),
)
