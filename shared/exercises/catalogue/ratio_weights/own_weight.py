"""A weight of the student's own: `own_weight(ratio, advantages) -> weight`, all of one shape.

Nothing says which. What is compared is a sentence on whether it can stand in for the ratio at all: 1 where nothing has
moved, never negative, bounded whatever the ratio, and each token's own. How good it is the notebook measures.
"""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, Text, as_numbers, named
from shared.exercises.steps import Steps

STEPS = Steps()
FAR = (1e-12, 1e-6, 1e-3, 0.5, 2.0, 1e3, 1e6, 1e12)  # ratios at which a weight must stay finite
LARGEST = 100.0
GOOD = "1 at a ratio of 1; finite, at least 0 and at most 100 at any other; each token's by its own ratio and advantage"


@STEPS.step
def weight(ratio):
    """One of many that will do."""
    return 2 * ratio / (1 + ratio)


@STEPS.slip("weight", "At a ratio of 1 the weight is not 1: on policy this would not be the policy gradient.")
def not_one_on_policy(ratio):
    return ratio / (1 + ratio)


STEPS.add(*LOSS_SLIPS.named("no_bound"))


@STEPS.slip(
    "weight",
    "The weight grows without a bound as the ratio falls to 0. A token that the policy hardly says any more would weigh "
    "most.",
)
def grows_below(ratio):
    return (1 / ratio).clamp(min=1.0)


@STEPS.slip(
    "weight", "Some weights are negative: such a token is pushed the wrong way. The sign is the advantage's task."
)
def negative(ratio):
    return 2 - ratio.clamp(max=4)


STEPS.add(*LOSS_SLIPS.named("times_advantage"))


@STEPS.slip(
    "weight",
    "A token's weight depends on the other tokens. Make it of its own ratio and advantage alone, or the rest of the batch "
    "decides what a token weighs.",
)
def over_the_batch(weight):
    return weight / weight.mean()


@STEPS.slip(
    "weight", "Some weights are nan or infinite: a large number over a large number. Divide before it overflows."
)
def overflows(ratio):
    return 2 * torch.exp(ratio - 1) / (1 + torch.exp(ratio - 1))


@STEPS.slip("weight", "You return one number. Every ratio has a weight of its own, in the shape of `ratio`.")
def averaged(weight):
    return weight.mean()


@STEPS.slip("weight", "Where a token stands decides what it weighs. Its own ratio and advantage alone do.")
def by_place(weight):
    flat = weight.flatten()
    return torch.where(torch.arange(len(flat)) % 2 == 0, flat, torch.ones_like(flat)).view(weight.shape)


def call(function, case: Case) -> str:
    """Try the weight at ratios near and far; a sentence on what is wrong with it, or that nothing is."""
    ratio, advantages = (value.clone() for value in case.values())
    first = function(*case.values())
    if as_numbers(first).shape != ratio.shape:
        return f"{named(first)}, where the ratio has the shape {tuple(ratio.shape)}"
    found = as_weights(function, ratio, advantages)
    faults = []
    on_policy = as_weights(function, torch.ones_like(ratio), advantages)
    if not torch.allclose(on_policy, torch.ones_like(on_policy), atol=1e-3):
        furthest = (on_policy - 1).abs().argmax()
        faults.append(f"{on_policy.flatten()[furthest]:.3f} at a ratio of 1")
    values = [as_weights(function, torch.full_like(ratio, far), advantages) for far in FAR]
    for far, value in zip((*FAR, "some"), (*values, found)):
        if not value.isfinite().all():
            faults.append(f"not finite at a ratio of {far}")
        elif (value < 0).any():
            faults.append(f"negative at a ratio of {far}")
        elif (value > LARGEST).any():
            faults.append(f"above {LARGEST:.0f} at a ratio of {far}")
    moved, turned = (
        others_changed(ratio, lambda other: 3 * other + 1),
        others_changed(advantages, lambda other: 1 - 2 * other),
    )
    if not torch.allclose(as_weights(function, moved, advantages).flatten()[0], found.flatten()[0], equal_nan=True):
        faults.append("another token's ratio changes it")
    if not torch.allclose(as_weights(function, ratio, turned).flatten()[0], found.flatten()[0], equal_nan=True):
        faults.append("another token's advantage changes it")
    ahead = as_weights(function, one_ahead(ratio), one_ahead(advantages))
    if not torch.allclose(ahead, one_ahead(found), equal_nan=True):
        faults.append("its place changes it")
    return "; ".join(faults) or GOOD


def one_ahead(values):
    """The values, each a place further on, the last one first."""
    return values.flatten().roll(1).view(values.shape)


def others_changed(values, change):
    """The values with all but the first changed."""
    flat = values.flatten()
    return torch.cat([flat[:1], change(flat[1:])]).view(values.shape)


def as_weights(function, ratio, advantages):
    """The weights of a call. Raises NotAResult for what is no tensor of the ratio's shape."""
    result = function(ratio.clone(), advantages.clone())
    value = as_numbers(result).detach()
    if not isinstance(result, torch.Tensor) or value.shape != ratio.shape:
        raise NotAResult(f"it returns {named(result)}; return a tensor in the shape of the ratio.")
    return value


def draw(draw: Draw) -> Case:
    B, C = draw.size(3), draw.size(3, least=2)
    return {"ratio": draw.numbers(B, C, least=0.1, most=6.0), "advantages": draw.numbers(B, C)}


def boundary() -> list[Case]:
    ratio = torch.tensor([[0.5, 2.0, 5.0]])
    return [{"ratio": ratio, "advantages": sign * torch.ones(1, 3)} for sign in (1.0, -1.0)]


EXERCISE = Exercise(
    name="a weight of your own",
    function="own_weight",
    contract="`f(ratio (B, C), advantages (B, C)) -> (B, C)`: 1 at a ratio of 1, never negative, bounded, each token's own.",
    steps=STEPS,
    arguments={"ratio": Numbers("B C", least=0.05), "advantages": Numbers("B C")},
    result=Text(),
    draw=draw,
    boundary=boundary,
    doubles=True,
    ranks=(1, 3),
    call=call,
    valid=lambda case: case["ratio"].numel() > 1 and bool((case["ratio"] > 0).all()),
    draws=20,
)
