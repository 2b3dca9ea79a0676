"""Groups without a spread: `silent(rewards) -> (N,)` booleans, from (N, G)."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def equal(rewards):
    """(N, G): which rewards are those of their group's first completion."""
    return rewards == rewards[:, :1]


@STEPS.step
def groups(equal):
    return equal.all(dim=1)


@STEPS.slip("groups", "True and False are exchanged: a group is silent when its rewards are equal.")
def exchanged(groups):
    return ~groups


@STEPS.slip(
    "equal", "Only groups in which all are wrong count. A group that is right throughout teaches nothing either."
)
def only_all_wrong(rewards):
    return rewards == 0


@STEPS.slip("equal", "Only groups in which all earn 1 count. A group that is wrong throughout teaches nothing either.")
def only_all_right(rewards):
    return rewards == 1


@STEPS.slip("equal", "You compare with the first group's first reward. Each group has its own first: `rewards[:, :1]`.")
def first_of_the_batch(rewards):
    return rewards == rewards[0, 0]


@STEPS.slip(
    "equal",
    "You compare the groups with each other, along the wrong axis: a group is a row of the table.",
)
def groups_compared(rewards):
    return rewards == rewards[:1]


@STEPS.slip("equal", "Only two neighbours are compared, the first and the last. All G rewards have to be equal.")
def first_and_last(rewards):
    return (rewards[:, :1] == rewards[:, -1:]).expand_as(rewards)


@STEPS.slip(
    "equal", "You ask whether the rewards add up to 0: with a reward of -1 and one of 1 the group is not silent."
)
def sum_is_zero(rewards):
    return (rewards.sum(dim=1, keepdim=True) == 0).expand_as(rewards)


@STEPS.slip("equal", "Rewards that are nearly equal count as equal. Divided by a small deviation they teach a lot.")
def nearly_equal(rewards):
    return (rewards - rewards[:, :1]).abs() < 0.05


@STEPS.slip("groups", "One equal pair is enough for yours (the first equals itself). Use `all`.")
def any_equal(equal):
    return equal.any(dim=1)


@STEPS.slip("groups", "You answer for the whole batch. One boolean for each group is asked for, (N,).")
def whole_batch(groups):
    return groups.all()


@STEPS.slip("groups", "The shape is (N, 1). One boolean for each group is asked for, (N,).")
def axis_kept(groups):
    return groups[:, None]


def draw(draw: Draw) -> Case:
    N, G = draw.size(), draw.size(4, least=2)
    level = draw.choice([0.0, 0.5, 1.0])
    rows = []
    for _ in range(N):
        first = draw.choice([0.0, 0.1, 1.0, 2.0, -1.0])
        rows.append(draw.choice([[first] * G, draw.some([first, level], G), [first] * (G - 1) + [first + 0.01]]))
    return {"rewards": torch.tensor(rows)}


def boundary() -> list[Case]:
    return [
        {"rewards": torch.tensor([row])}
        for row in (
            [0.0, 0.0],
            [1.0, 1.0],
            [0.5, 0.5],
            [1.0, 0.0],
            [0.0, 1.0],
            [1.0, -1.0],
            [1.0, 0.0, 1.0],
            [0.5, 0.51],
        )
    ] + [{"rewards": torch.tensor([[0.1, 0.1, 0.1], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])}]


EXERCISE = Exercise(
    name="silent groups",
    function="silent",
    steps=STEPS,
    arguments={"rewards": Numbers("N G")},
    result=TensorOf("N", of="booleans"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["rewards"].size(1) > 1,
)
