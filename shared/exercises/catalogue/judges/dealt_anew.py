"""A control for a reward: `dealt_anew(rewards, drawn, num_generations) -> rewards`, (B,).

The rewards of each group in the order of its drawn numbers: as many are paid as before, and chance says which.
"""

import torch

from shared.exercises.arguments import Numbers, Size
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def groups(rewards, num_generations):
    return rewards.view(-1, num_generations)


@STEPS.step
def order(drawn, num_generations):
    """(N, G): the place of the smallest number of each group, then that of the next."""
    return drawn.view(-1, num_generations).argsort(dim=1)


@STEPS.step
def dealt(groups, order):
    return groups.gather(1, order)


@STEPS.step
def flat(dealt):
    return dealt.reshape(-1)


@STEPS.slip("order", "The largest number comes first in yours. The smallest does.")
def largest_first(drawn, num_generations):
    return drawn.view(-1, num_generations).argsort(dim=1, descending=True)


@STEPS.slip("order", "All groups are dealt in the order of the first group's numbers. Each has its own.")
def order_of_the_first(drawn, num_generations):
    first = drawn.view(-1, num_generations)[:1].argsort(dim=1)
    return first.expand(drawn.numel() // num_generations, -1)


@STEPS.slip("dealt", "Each reward goes to its number's rank. Asked is the other way: the first place gets the reward of "
            "the completion with the smallest number.")  # fmt: skip
def by_rank(groups, order):
    return groups.gather(1, order.argsort(dim=1))


@STEPS.slip("dealt", "Nothing is dealt anew: these are the rewards as they were.")
def as_they_were(groups):
    return groups


@STEPS.slip("dealt", "The rewards themselves are put in order. The drawn numbers decide, whatever the rewards are.")
def rewards_in_order(groups):
    return groups.sort(dim=1).values


@STEPS.slip("dealt", "You return the places. Take the rewards at these places.")
def the_places(order):
    return order.float()


@STEPS.slip("flat", "Rewards cross from one prompt to another: the numbers of all groups are put in one order. Then a "
            "group may be paid more often than its rule pays.")  # fmt: skip
def across_groups(rewards, drawn):
    return rewards[drawn.argsort()]


@STEPS.slip("flat", "Completions of one prompt stand next to each other: a group is G neighbours, not every N-th.")
def every_nth(rewards, drawn, num_generations):
    columns = rewards.view(num_generations, -1).T, drawn.view(num_generations, -1).T
    return columns[0].gather(1, columns[1].argsort(dim=1)).T.reshape(-1)


def draw(draw: Draw) -> Case:
    N, G = draw.size(), draw.size(least=2)
    rewards = draw.choice([torch.tensor(draw.some([0.0, 1.0], N * G)), draw.numbers(N * G)])
    far = draw.choice([1, 8])
    numbers = far * torch.tensor(draw.sample(range(-1000 * G, 1000 * G), N * G)) / (1000 * G)  # no two are equal
    return {"rewards": rewards, "drawn": numbers, "num_generations": G}


def boundary() -> list[Case]:
    four = {"rewards": torch.tensor([1.0, 0.0, 0.0, 0.0]), "drawn": torch.tensor([0.4, 0.9, 0.1, 0.7])}
    two = {
        "rewards": torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        "drawn": torch.tensor([0.3, 0.1, 0.2, 0.6, 0.4, 0.8]),
    }
    return [
        four | {"num_generations": 4},
        four | {"num_generations": 2},
        two | {"num_generations": 3},
        two | {"num_generations": 2},
        two | {"num_generations": 6},
    ]


def valid(case: Case) -> bool:
    """True where groups have two completions at least, and no two numbers are equal: of these either may come first."""
    return case["num_generations"] > 1 and len(set(case["drawn"].tolist())) == case["drawn"].numel()


EXERCISE = Exercise(
    name="rewards dealt anew",
    function="dealt_anew",
    contract="`f(rewards (B,), drawn (B,), num_generations) -> (B,)`: each group's rewards in the order of its drawn "
    "numbers.",
    steps=STEPS,
    arguments={
        "rewards": Numbers("N*G"),
        "drawn": Numbers("N*G"),
        "num_generations": Size(axis="G", usual=8),
    },
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    valid=valid,
)
