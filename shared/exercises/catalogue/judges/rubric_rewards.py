"""A rubric's rewards: `rubric_rewards(items, weights, required) -> (B,)`.

The weighted mean of the items that a completion meets; 0 where it does not meet one that is required.
"""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def earned(items, weights):
    return (items * weights).sum(dim=1)


@STEPS.step
def whole(weights):
    """The pay of a completion that meets every item."""
    return weights.sum()


@STEPS.step
def share(earned, whole):
    return earned / whole


@STEPS.step
def missing(items, required):
    """(B, F): required, and not met."""
    return (required == 1) & (items == 0)


@STEPS.step
def fails(missing):
    return missing.any(dim=1)


@STEPS.step
def rewards(share, fails):
    return torch.where(fails, 0.0, share)


@STEPS.slip("earned", "Every item counts the same in yours: each has its weight.")
def unweighted(items, weights):
    return items.mean(dim=1) * weights.sum()


@STEPS.slip(
    "whole", "The weights are added up and not divided by their sum: with weights of 2 the best reward is not 1."
)
def not_divided():
    return 1.0


@STEPS.slip("whole", "You divide by the number of items. A mean with weights is divided by the sum of the weights.")
def by_the_number(items):
    return float(items.shape[1])


@STEPS.slip("whole", "You divide by the weights of the items that are met: who meets one item has full marks then.")
def by_what_is_met(items, weights):
    return (items * weights).sum(dim=1).clamp(min=1e-9)


@STEPS.slip("whole", "You divide by the weights of the required items. Divide by the sum of all.")
def by_the_required(weights, required):
    return (weights * required).sum() + (required.sum() == 0) * weights.sum()


@STEPS.slip("earned", "Items that are not required earn nothing in yours. They count, if no required one is missing.")
def required_alone(items, weights, required):
    return (items * weights * required).sum(dim=1)


@STEPS.slip("missing", "What is required is never asked for: a completion without it still earns the other items.")
def never_missing(items):
    return torch.zeros_like(items, dtype=torch.bool)


@STEPS.slip("missing", "Every item is required in yours. Only those that `required` marks with 1 are.")
def all_required(items):
    return items == 0


@STEPS.slip("missing", "The items that are not required decide: `required` is 1 for those that must be met.")
def required_turned_round(items, required):
    return (required == 0) & (items == 0)


@STEPS.slip("fails", "A completion fails in yours if it misses all items at once. One that is required is enough.")
def all_missing(missing, required):
    return (missing | (required == 0)).all(dim=1) & (required.sum() > 0)


@STEPS.slip("fails", "Those that fail keep their reward, and the others get 0.")
def turned_round(missing):
    return ~missing.any(dim=1)


@STEPS.slip("fails", "One completion that fails makes the whole batch fail. Each completion stands for itself.")
def the_whole_batch(missing, items):
    return missing.any().expand(items.shape[0])


@STEPS.slip("rewards", "A completion that fails is punished with a number below 0. It earns 0.")
def punished(share, fails):
    return torch.where(fails, -1.0, share)


@STEPS.slip("rewards", "A completion that meets what is required gets 1. It earns its weighted mean.")
def all_or_nothing(fails):
    return (~fails).float()


def draw(draw: Draw) -> Case:
    B, F = draw.size(), draw.size()
    required = draw.choice([[0.0] * F, draw.some([0.0, 1.0], F), draw.some([0.0, 0.0, 1.0], F)])
    return {
        "items": torch.tensor(draw.some([0.0, 1.0, 1.0], B * F)).view(B, F),
        "weights": draw.numbers(F, least=0.1, most=3.0),
        "required": torch.tensor(required),
    }


def boundary() -> list[Case]:
    items = torch.tensor(
        [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    )
    weights = torch.tensor([3.0, 1.0, 6.0])
    marks = ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0])
    return [{"items": items, "weights": weights, "required": torch.tensor(each)} for each in marks]


def valid(case: Case) -> bool:
    """True for items and marks of 0 and 1, and weights above 0."""
    marks = torch.cat([case["items"].flatten(), case["required"]])
    return bool(((marks == 0) | (marks == 1)).all()) and bool((case["weights"] > 0.05).all())


EXERCISE = Exercise(
    name="a rubric",
    function="rubric_rewards",
    contract="`f(items (B, F), weights (F,), required (F,)) -> (B,)`: the weighted mean of the items, 0 where a required one "
    "is not met.",
    steps=STEPS,
    arguments={
        "items": Numbers("B F", least=0.0, most=1.0),
        "weights": Numbers("F", least=0.0),
        "required": Numbers("F", least=0.0, most=1.0),
    },
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    valid=valid,
)
