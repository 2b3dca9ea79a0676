"""The completions that are near enough to be learnt from: `kept(start_logps, sampler_logps, completion_mask, bound)`, (B,)."""

import math

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.ratio_weights.sampler_weight import draw as drawn
from shared.exercises.catalogue.ratio_weights.sampler_weight import real
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def difference(start_logps, sampler_logps):
    return start_logps - sampler_logps


STEPS.step(real)


@STEPS.step
def ratio(real):
    return real.sum(dim=1).exp()


@STEPS.step
def near(ratio, bound):
    return (ratio <= bound) & (ratio >= 1 / bound)


@STEPS.step
def kept(near):
    return near.float()


STEPS.add(*LOSS_SLIPS.named("with_padding", "ratios_added"))


@STEPS.slip(
    "ratio",
    "You take the mean over the tokens. The ratio of a completion is the product of its tokens': add logarithms.",
)
def mean_over_tokens(real, completion_mask):
    return (real.sum(dim=1) / completion_mask.sum(dim=1)).exp()


@STEPS.slip("ratio", "The bound is held against the logarithm: `exp` is missing.")
def without_exp(real):
    return real.sum(dim=1)


@STEPS.slip(
    "near", "What has become much rarer is kept. It is as far from the sampler as what has become much likelier."
)
def above_alone(ratio, bound):
    return ratio <= bound


@STEPS.slip("near", "What has become much likelier is kept: the bound holds on both sides.")
def below_alone(ratio, bound):
    return ratio >= 1 / bound


@STEPS.slip("near", "You keep what is far and drop what is near.")
def turned_round(ratio, bound):
    return (ratio > bound) | (ratio < 1 / bound)


@STEPS.slip("near", "The range is 1 - bound to 1 + bound in yours. For a ratio it is 1/bound to bound.")
def as_a_distance(ratio, bound):
    return (ratio - 1).abs() <= bound


@STEPS.slip(
    "near", "One token that is far drops the whole completion in yours. The bound is on the product of all its tokens."
)
def token_by_token(difference, completion_mask, bound):
    ratios = torch.where(completion_mask == 1, difference, 0.0).exp()
    return ((ratios <= bound) & (ratios >= 1 / bound)).all(dim=1)


@STEPS.slip("kept", "You return the ratio of what is kept. A mask is 1 or 0.")
def weighed(near, ratio):
    return torch.where(near, ratio, 0.0)


def draw(draw: Draw) -> Case:
    case = drawn(draw)
    return {"start_logps": case.pop("logps")} | case


def boundary() -> list[Case]:
    ratios = torch.tensor([[4.0, 0.25, 1.0], [2.0, 3.0, 9.0], [0.5, 0.5, 1.0], [0.3, 1.0, 1.0]])
    start = torch.full((4, 3), -1.0)
    mask = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 1, 1], [1, 0, 0]])
    return [{"start_logps": start, "sampler_logps": start - ratios.log(), "completion_mask": mask, "bound": 3.0}]


def valid(case: Case) -> bool:
    """True where every completion has a token, and no ratio lies at the bound, where rounding would decide."""
    if case["bound"] <= 1 or not (case["completion_mask"].sum(dim=1) > 0).all():
        return False
    real = torch.where(case["completion_mask"] == 1, case["start_logps"] - case["sampler_logps"], 0.0)
    return bool(((real.sum(dim=1).abs() - math.log(case["bound"])).abs() > 1e-4).all())


EXERCISE = Exercise(
    name="near enough",
    function="kept",
    contract="`f(start_logps (B, C), sampler_logps (B, C), completion_mask (B, C), bound) -> (B,)`: 1 for a completion whose "
    "ratio lies between 1/bound and bound, else 0.",
    steps=STEPS,
    arguments={
        "start_logps": Numbers("B C", most=0.0),
        "sampler_logps": Numbers("B C", most=0.0),
        "completion_mask": Mask("B C"),
        "bound": Scalar(usual=3.0, simple=(2.0, 3.0)),
    },
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    valid=valid,
)
