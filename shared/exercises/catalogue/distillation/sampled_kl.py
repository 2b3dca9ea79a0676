"""A KL estimated from samples: `sampled_kl(sampler_logps, other_logps, completion_mask) -> number`."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(sampler_logps, other_logps):
    return sampler_logps - other_logps


@STEPS.step
def masked(log_ratio, completion_mask):
    return log_ratio.masked_fill(completion_mask == 0, 0.0)


@STEPS.step
def tokens(completion_mask):
    return completion_mask.sum()


@STEPS.step
def estimate(masked, tokens):
    return masked.sum() / tokens


@STEPS.slip(
    "log_ratio",
    "You take the other's logarithm first: the mean is then minus the KL. Whoever sampled comes first.",
)
def other_first(sampler_logps, other_logps):
    return other_logps - sampler_logps


@STEPS.slip(
    "log_ratio",
    "You weight each log-ratio with the sampler's probability. The samples are drawn with it already: a likely token "
    "comes often, and would count twice.",
)
def weighted_again(sampler_logps, other_logps):
    return sampler_logps.exp() * (sampler_logps - other_logps)


@STEPS.slip("log_ratio", "This is the ratio of the probabilities. The KL is a mean of its logarithm.")
def ratio(sampler_logps, other_logps):
    return (sampler_logps - other_logps).exp()


@STEPS.slip("masked", "The padding counts: what stands there was drawn by nobody. Leave it out of the sum.")
def padding_summed(log_ratio):
    return log_ratio


@STEPS.slip("tokens", "You divide by all places, padding among them. Divide by the number of real tokens.")
def by_places(completion_mask):
    return completion_mask.numel()


@STEPS.slip(
    "tokens", "You divide by the number of completions: that is the KL of a whole completion, and not of a token."
)
def by_completions(completion_mask):
    return len(completion_mask)


@STEPS.slip(
    "estimate",
    "You average each completion first, then the completions: a token of a short one weighs more. Asked for is one mean "
    "over all tokens.",
)
def by_completion_first(masked, completion_mask):
    return (masked.sum(dim=1) / completion_mask.sum(dim=1)).mean()


@STEPS.slip("estimate", "You return the sum. Divide it by the number of real tokens.")
def summed(masked):
    return masked.sum()


@STEPS.slip(
    "estimate",
    "You take the size of each log-ratio, without its sign. Single ones may be negative; their mean is the KL.",
)
def absolute(masked, tokens):
    return masked.abs().sum() / tokens


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
    result=Number(),
    relevant="completion_mask",
    draw=draw,
    boundary=boundary,
)
