"""A KL estimated from samples: `sampled_kl(sampler_logps, other_logps, completion_mask) -> number`."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.catalogue.common.token_mean import SLIPS, add_mean
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def per_token(sampler_logps, other_logps):
    return sampler_logps - other_logps


add_mean(STEPS)


@STEPS.slip(
    "per_token",
    "You take the other's logarithm first: the mean is then minus the KL. Whoever sampled comes first.",
)
def other_first(sampler_logps, other_logps):
    return other_logps - sampler_logps


@STEPS.slip(
    "per_token",
    "You weight each log-ratio with the sampler's probability. The samples are drawn with it already: a likely token "
    "comes often, and would count twice.",
)
def weighted_again(sampler_logps, other_logps):
    return sampler_logps.exp() * (sampler_logps - other_logps)


@STEPS.slip("per_token", "This is the ratio of the probabilities. The KL is a mean of its logarithm.")
def ratio(sampler_logps, other_logps):
    return (sampler_logps - other_logps).exp()


STEPS.add(*SLIPS)


@STEPS.slip(
    "mean",
    "You take the size of each log-ratio, without its sign. Single ones may be negative; their mean is the KL.",
)
def absolute(masked, tokens):
    return masked.abs().sum() / tokens


@STEPS.slip(
    "mean",
    "You cut the estimate off at 0. A KL is never negative, but its estimate from few samples may be: cut off it is too "
    "large on average.",
)
def cut_off_at_0(mean):
    return mean.clamp(min=0)


@STEPS.slip(
    "masked", "The padding counts in `other_logps`: you mask the sampler's alone. Mask the difference of the two."
)
def sampler_alone_masked(sampler_logps, other_logps, completion_mask):
    return sampler_logps * completion_mask - other_logps


@STEPS.slip(
    "masked", "The padding counts in `sampler_logps`: you mask the other's alone. Mask the difference of the two."
)
def other_alone_masked(sampler_logps, other_logps, completion_mask):
    return sampler_logps - other_logps * completion_mask


@STEPS.slip("per_token", "This is k3, an estimator of the same KL. Asked for is the mean log-ratio itself.")
def k3_instead(sampler_logps, other_logps):
    log_ratio = other_logps - sampler_logps
    return log_ratio.exp() - log_ratio - 1


@STEPS.slip("per_token", "This is k2, half of the squared log-ratio. Asked for is the mean log-ratio itself.")
def k2_instead(sampler_logps, other_logps):
    return (sampler_logps - other_logps) ** 2 / 2


@STEPS.slip(
    "per_token", "This is the difference of the probabilities. The KL is a mean of log-ratios: leave out `exp`."
)
def difference_of_probabilities(sampler_logps, other_logps):
    return sampler_logps.exp() - other_logps.exp()


@STEPS.slip(
    "per_token",
    "You weight each log-ratio with the other's probability. The samples are drawn from the sampler already: no weight.",
)
def weighted_with_the_other(sampler_logps, other_logps):
    return other_logps.exp() * (sampler_logps - other_logps)


@STEPS.slip(
    "per_token",
    "Each log-ratio is cut off at 0. Single ones may be negative, and belong to the mean: without them it is too large.",
)
def each_cut_off_at_0(sampler_logps, other_logps):
    return (sampler_logps - other_logps).clamp(min=0)


@STEPS.slip("mean", "This is the logarithm of the mean ratio. Take the mean of the logarithms.")
def logarithm_of_the_mean(per_token, completion_mask, tokens):
    return (per_token.exp().masked_fill(completion_mask == 0, 0.0).sum() / tokens).log()


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    return {
        "sampler_logps": draw.garbage(draw.numbers(B, C, least=-4.0, most=-0.1), mask),
        "other_logps": draw.garbage(draw.numbers(B, C, least=-4.0, most=-0.1), mask),
        "completion_mask": mask,
    }


def boundary() -> list[Case]:
    quadruples = [
        ([[-1.0]], [[-2.0]], [[1]]),
        ([[-2.0]], [[-1.0]], [[1]]),
        ([[-1.0, 0.0]], [[-2.0, -9.0]], [[1, 0]]),
        ([[-1.0, -1.0], [-0.5, 0.0]], [[-2.0, -3.0], [-0.25, -7.0]], [[1, 1], [1, 0]]),
    ]
    names = ("sampler_logps", "other_logps", "completion_mask")
    return [dict(zip(names, map(torch.tensor, each))) for each in quadruples]


EXERCISE = Exercise(
    name="KL from samples",
    function="sampled_kl",
    contract="`f(sampler_logps (B, C), other_logps (B, C), completion_mask (B, C)) -> number`, the mean over real tokens.",
    steps=STEPS,
    arguments={
        "sampler_logps": Numbers("B C", most=0.0),
        "other_logps": Numbers("B C", most=0.0),
        "completion_mask": Mask("B C"),
    },
    result=TensorOf(""),
    relevant="completion_mask",
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
