"""Truncated importance sampling: `sampler_weight(logps, sampler_logps, completion_mask, bound) -> weight`, (B,)."""

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def difference(logps, sampler_logps):
    return logps - sampler_logps


@STEPS.step
def real(difference, completion_mask):
    return torch.where(completion_mask == 1, difference, 0.0)


@STEPS.step
def whole(real):
    return real.sum(dim=1)


@STEPS.step
def ratio(whole):
    return whole.exp()


@STEPS.step
def weight(ratio, bound):
    return ratio.clamp(max=bound)


@STEPS.slip("difference", "The ratio is upside down: the policy's probability stands above, the sampler's below.")
def upside_down(logps, sampler_logps):
    return sampler_logps - logps


STEPS.add(*LOSS_SLIPS.named("with_padding", "ratios_added"))


@STEPS.slip(
    "whole",
    "You take the mean over the tokens, as GSPO does. The sampler drew the whole completion: its probability is the "
    "product of all tokens', so the logarithms add up.",
)
def mean_over_tokens(real, completion_mask):
    return real.sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.slip(
    "ratio",
    "Each token is truncated before the product. The bound is on the weight of the completion: multiply first.",
)
def tokens_truncated(real, bound):
    return real.exp().clamp(max=bound).prod(dim=1)


@STEPS.slip("ratio", "The weight is a logarithm: `exp` of the summed difference is the ratio.")
def without_exp(whole):
    return whole


STEPS.add(*LOSS_SLIPS.named("no_bound"))


@STEPS.slip(
    "weight",
    "Above the bound the weight is 0: that is masking, another method. Truncated, such a completion weighs the bound.",
)
def masked(ratio, bound):
    return torch.where(ratio > bound, 0.0, ratio)


@STEPS.slip(
    "weight", "The weight has a lower bound too. What the sampler draws too often must be allowed to weigh little."
)
def held_from_below(ratio, bound):
    return ratio.clamp(1 / bound, bound)


@STEPS.slip("weight", "The larger of ratio and bound is taken. A truncated ratio is the smaller of the two.")
def larger(ratio, bound):
    return ratio.clamp(min=bound)


@STEPS.slip("weight", "You return one weight for all. Each completion has its own, (B,).")
def averaged(weight):
    return weight.mean()


@STEPS.slip("real", "Padding counts in `sampler_logps`: you mask `logps` alone. Mask the difference of the two.")
def logps_alone_masked(logps, sampler_logps, completion_mask):
    return logps * completion_mask - sampler_logps


@STEPS.slip("real", "Padding counts in `logps`: you mask `sampler_logps` alone. Mask the difference of the two.")
def sampler_alone_masked(logps, sampler_logps, completion_mask):
    return logps - sampler_logps * completion_mask


@STEPS.slip(
    "ratio",
    "You divide the probabilities of whole completions. Of a long one both are rounded to 0, and the quotient is nan: "
    "subtract the logarithms first, then exp.",
)
def quotient_of_probabilities(logps, sampler_logps, completion_mask):
    above, below = (torch.where(completion_mask == 1, own, 0.0).sum(dim=1).exp() for own in (logps, sampler_logps))
    return above / below


@STEPS.slip(
    "ratio",
    "Where the mask is 0 the ratio becomes 0, and with it the product. Padding has the ratio 1: mask the logarithms.",
)
def masked_ratios_multiplied(difference, completion_mask):
    return (difference.exp() * completion_mask).prod(dim=1)


@STEPS.slip(
    "weight", "The bound is on the sum of logarithms: weights up to exp(bound) pass. First exp, then the bound."
)
def logarithm_bounded(whole, bound):
    return whole.clamp(max=bound).exp()


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    logps = draw.numbers(B, C, least=-3.0, most=-0.1)
    sampler_logps = logps - draw.numbers(B, C, least=-1.0, most=1.2)
    return {
        "logps": draw.garbage(logps, mask),
        "sampler_logps": draw.garbage(sampler_logps, mask),
        "completion_mask": mask,
        "bound": draw.number(1.1, 3.0),
    }


def boundary() -> list[Case]:
    ratios = torch.tensor([[4.0, 0.25, 1.0], [2.0, 3.0, 5.0], [0.5, 0.2, 1.0]])
    logps = torch.full((3, 3), -1.0)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 1, 1]])
    one = -torch.ones(1, 1)
    long = torch.full((1, 2), -60.0)
    return [
        {"logps": one, "sampler_logps": one.clone(), "completion_mask": torch.ones(1, 1).long(), "bound": 3.0},
        {"logps": logps, "sampler_logps": logps - ratios.log(), "completion_mask": mask, "bound": 3.0},
        {"logps": logps[2:], "sampler_logps": (logps - ratios.log())[2:], "completion_mask": mask[2:], "bound": 2.0},
        {"logps": logps[:1], "sampler_logps": logps[:1] - 0.5, "completion_mask": mask[:1], "bound": 2.0},
        {"logps": long, "sampler_logps": long - 0.25, "completion_mask": torch.ones(1, 2).long(), "bound": 3.0},
    ]


EXERCISE = Exercise(
    name="weight of another sampler",
    function="sampler_weight",
    contract="`f(logps (B, C), sampler_logps (B, C), completion_mask (B, C), bound) -> (B,)`, the truncated ratio of each "
    "whole completion.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C", most=0.0),
        "sampler_logps": Numbers("B C", most=0.0),
        "completion_mask": Mask("B C"),
        "bound": Scalar(usual=3.0, simple=(1.0, 2.0)),
    },
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    doubles=True,
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
