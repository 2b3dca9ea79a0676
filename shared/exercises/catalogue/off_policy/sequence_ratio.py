"""One ratio for each completion: `sequence_ratio(logps, old_logps, completion_mask) -> ratio (B,)`."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, old_logps):
    return logps - old_logps


@STEPS.step
def counted(log_ratio, completion_mask):
    return torch.where(completion_mask == 1, log_ratio, torch.zeros_like(log_ratio))


@STEPS.step
def lengths(completion_mask):
    return completion_mask.sum(dim=1)


@STEPS.step
def mean(counted, lengths):
    return counted.sum(dim=1) / lengths


@STEPS.step
def ratio(mean):
    return torch.exp(mean)


STEPS.add(*LOSS_SLIPS.named("upside_down", "padding_counts", "logarithms_divided"))


@STEPS.slip(
    "lengths",
    "This is the ratio of the whole completions: the sum of the log-ratios is not divided by the length. It leaves any "
    "range as completions get longer; take the mean over the tokens.",
)
def not_divided(logps):
    return torch.ones(len(logps))


@STEPS.slip(
    "lengths",
    "You divide by C, the width of the padded batch. Divide by the completion's own length, the sum of its mask.",
)
def divided_by_width(logps):
    return torch.full((len(logps),), float(logps.size(1)))


@STEPS.slip(
    "ratio",
    "You take the mean of the tokens' ratios. GSPO takes the exponential of the mean log-ratio, their geometric mean.",
)
def arithmetic_mean(log_ratio, completion_mask):
    return torch.where(completion_mask == 1, log_ratio.exp(), 0.0).sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.slip("ratio", "The exponential is missing: this is the mean log-ratio, which is 0 where the ratio is 1.")
def exponential_forgotten(mean):
    return mean


STEPS.add(*LOSS_SLIPS.named("gradient_missing"))


@STEPS.slip("ratio", "You return one number. Keep one ratio for each completion, (B,).")
def averaged(ratio):
    return ratio.mean()


@STEPS.slip("ratio", "You return (B, 1). The completion's ratio is asked for as (B,): drop the axis of tokens.")
def kept_the_axis(ratio):
    return ratio[:, None]


@STEPS.slip("counted", "Only `logps` is masked: the padding of `old_logps` stays in the sum. Mask their difference.")
def old_ones_not_masked(logps, old_logps, completion_mask):
    return logps * completion_mask - old_logps


@STEPS.slip("counted", "Only `old_logps` is masked: the padding of `logps` stays in the sum. Mask their difference.")
def new_ones_not_masked(logps, old_logps, completion_mask):
    return logps - old_logps * completion_mask


@STEPS.slip(
    "ratio",
    "You divide the ratio of the whole completion by its length. Divide the sum of the logarithms, before `exp`.",
)
def divided_behind_exp(counted, lengths):
    return torch.exp(counted.sum(dim=1)) / lengths


@STEPS.slip(
    "ratio",
    "You average over the width, and the padding counts as ratios of 1. Take the exponential of the mean log-ratio of the "
    "real tokens.",
)
def padding_as_ones(counted):
    return counted.exp().mean(dim=1)


@STEPS.slip("mean", "One mean runs over all completions. Each has its own: `sum(dim=1)`.")
def mean_of_the_batch(counted, lengths):
    return (counted.sum() / lengths.sum()).expand(len(lengths))


@STEPS.slip("ratio", "This is the ratio of the means of the probabilities. Take the exponential of the mean log-ratio.")
def means_of_probabilities(logps, old_logps, completion_mask):
    now, old = ((values.exp() * completion_mask).sum(dim=1) for values in (logps, old_logps))
    return now / old


@STEPS.slip("lengths", "The root is missing a token: you divide by the length minus 1.")
def one_token_less(lengths):
    return (lengths - 1).clamp(min=1)


@STEPS.slip("lengths", "You divide by the mean length of the batch. Each completion has a length of its own.")
def mean_length(completion_mask):
    return completion_mask.sum(dim=1).float().mean()


@STEPS.slip(
    "lengths", "You divide by the number of tokens of the whole batch. Each completion has a length of its own."
)
def tokens_of_the_batch(completion_mask):
    return completion_mask.sum()


@STEPS.slip(
    "lengths",
    "You count the log-ratios that are not 0. That of a token with an unchanged probability is 0, and the token is one of "
    "the completion: count the mask.",
)
def changed_tokens_counted(counted):
    return (counted != 0).sum(dim=1).clamp(min=1)


@STEPS.slip(
    "lengths",
    "You look for the first 0 of the mask. A completion without padding has none, and its length comes out as 0 or 1: "
    "add the mask up.",
)
def place_of_the_first_0(completion_mask):
    return completion_mask.argmin(dim=1).clamp(min=1)


def draw(draw: Draw) -> Case:
    B = draw.size()
    C = draw.size()
    mask = draw.mask(B, C)
    old = draw.numbers(B, C, least=-4, most=0)
    far = draw.choice([0.2, 1.0])
    all_alike = draw.choice([0.0, 2.0, -2.0])  # a policy that moved: the product of many ratios overflows
    logps = old + all_alike + far * draw.numbers(B, C, least=-1, most=1)
    return {
        "logps": draw.garbage(logps, mask),
        "old_logps": draw.garbage(old, mask),
        "completion_mask": mask,
    }


def boundary() -> list[Case]:
    old = torch.tensor([[-1.0, -2.0, -0.5], [-0.1, -3.0, -1.5]])
    new = old + torch.tensor([[1.0, -0.5, 0.0], [0.5, 3.0, 2.0]])
    mask = torch.tensor([[1, 1, 1], [1, 0, 0]])
    return [
        {"logps": old[:, :1], "old_logps": old[:, :1].clone(), "completion_mask": mask[:, :1]},
        {"logps": new, "old_logps": old, "completion_mask": mask},
        {"logps": new, "old_logps": old, "completion_mask": torch.ones_like(mask)},
    ]


EXERCISE = Exercise(
    name="ratio of sequences",
    function="sequence_ratio",
    contract="`f(logps (B, C), old_logps (B, C), completion_mask (B, C)) -> ratio (B,)` of whole completions, as "
    "in GSPO.",
    steps=STEPS,
    arguments={"logps": Numbers("B C"), "old_logps": Numbers("B C"), "completion_mask": Mask("B C")},
    result=TensorOf("B"),
    gradient="logps",
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
