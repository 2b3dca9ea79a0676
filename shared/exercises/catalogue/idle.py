"""The share of groups without a spread: `idle_groups(rewards, num_generations) -> number`, from (B,) rewards."""

import torch

from shared.exercises.arguments import Numbers, Size
from shared.exercises.catalogue import silent
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def table(rewards, num_generations):
    return rewards.view(-1, num_generations)


@STEPS.step
def equal(table):
    return (table == table[:, :1]).all(dim=1)


@STEPS.step
def share(equal):
    return equal.float().mean().item()


@STEPS.slip(
    "share", "This is the share of groups that teach something. Asked for are those whose rewards are all equal."
)
def busy_groups(share):
    return 1 - share


@STEPS.slip("share", "You return how many groups are idle. Divide by the number of groups.")
def counted(equal):
    return float(equal.sum())


@STEPS.slip("share", "You divide by the number of completions. Divide by the number of groups.")
def divided_by_completions(equal, rewards):
    return float(equal.sum()) / len(rewards)


@STEPS.slip(
    "equal", "Only groups in which all are wrong count. A group that is right throughout teaches nothing either."
)
def only_all_wrong(table):
    return (table == 0).all(dim=1)


@STEPS.slip("equal", "Only groups in which all earn 1 count. A group that is wrong throughout teaches nothing either.")
def only_all_right(table):
    return (table == 1).all(dim=1)


@STEPS.slip("equal", "You compare with the first group's first reward. Each group has its own first: `groups[:, :1]`.")
def first_of_the_batch(table):
    return (table == table[0, 0]).all(dim=1)


@STEPS.slip("equal", "You take the share of *rewards* that equal their group's first. A group is idle when all do.")
def rewards_counted(table):
    return table == table[:, :1]


@STEPS.slip(
    "table",
    "The groups are cut wrongly: the G completions of a prompt lie next to each other, so a group is a row of "
    "`rewards.view(-1, num_generations)`.",
)
def cut_wrongly(rewards, num_generations):
    return rewards.view(num_generations, -1).T


@STEPS.slip("num_generations", "The group size is written down as 2. Use the argument.")
def group_size_hard_coded():
    return 2


@STEPS.slip("table", "The whole batch is one group in yours. A group is the G completions of one prompt.")
def one_group(rewards):
    return rewards[None]


def draw(draw: Draw) -> Case:
    case = silent.draw(draw)
    return {"rewards": case["rewards"].flatten(), "num_generations": case["rewards"].size(1)}


def boundary() -> list[Case]:
    rows = ([0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    pairs = [{"rewards": torch.tensor(row), "num_generations": 2} for row in rows]
    return [*pairs, {"rewards": torch.tensor([0.5, 0.5, 0.5, 0.0, 0.0, 1.0]), "num_generations": 3}]


EXERCISE = Exercise(
    name="share of idle groups",
    function="idle_groups",
    steps=STEPS,
    arguments={"rewards": Numbers("N*G"), "num_generations": Size(of="G", usual=8)},
    result=Number(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["num_generations"] > 1 and len(case["rewards"]) % case["num_generations"] == 0,
)
