"""The clipping, and its slips: what is clipped, to which range, and which of the two terms counts.

The losses of PPO and GSPO take both from here; their advantages have the shape of the ratio.
"""

import torch

from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


def clipped_ratio(ratio, epsilon):
    return ratio.clamp(1 - epsilon, 1 + epsilon)


def free(ratio, advantages):
    return ratio * advantages


def clipped(clipped_ratio, advantages):
    return clipped_ratio * advantages


def surrogate(free, clipped):
    return torch.minimum(free, clipped)


CLIPPING = (clipped_ratio, free, clipped, surrogate)


@SLIPS.slip(
    "surrogate",
    "You take the larger of the free and the clipped term. The objective is the smaller one (a pessimistic bound): "
    "with the larger one, clipping never limits an update.",
)
def maximum_of_the_two(free, clipped):
    return torch.maximum(free, clipped)


@SLIPS.slip("surrogate", "There is no clipping: the ratio acts without bound. Take the minimum with the clipped term.")
def not_clipped(free):
    return free


@SLIPS.slip(
    "surrogate",
    "You use the clipped term alone, without the minimum. What has moved too far in the wrong direction then gets no "
    "gradient to bring it back.",
)
def clipped_without_minimum(clipped):
    return clipped


@SLIPS.slip(
    "surrogate",
    "The smaller of the two ratios is taken and then multiplied. Multiply both by the advantage first: for a negative one "
    "the smaller product has the larger ratio.",
)
def smaller_ratio(ratio, clipped_ratio, free, clipped):
    return torch.where(ratio < clipped_ratio, free, clipped)


@SLIPS.slip("clipped", "You clip the ratio times the advantage. Clip the ratio alone, then multiply.")
def product_clipped(free, epsilon):
    return free.clamp(1 - epsilon, 1 + epsilon)


@SLIPS.slip(
    "clipped_ratio",
    "The ratio is clipped above only: `clamp(max=1 + epsilon)`. Without 1 - epsilon below, a negative advantage pushes "
    "down without bound.",
)
def clipped_above_only(ratio, epsilon):
    return ratio.clamp(max=1 + epsilon)


@SLIPS.slip(
    "clipped_ratio",
    "The ratio is clipped below only: `clamp(min=1 - epsilon)`. Without 1 + epsilon above, a positive advantage pushes "
    "up without bound.",
)
def clipped_below_only(ratio, epsilon):
    return ratio.clamp(min=1 - epsilon)


@SLIPS.slip(
    "clipped_ratio",
    "The ratio is clipped to epsilon around 0. It is a quotient of probabilities, 1 where the policies agree: clip it "
    "to 1 - epsilon and 1 + epsilon.",
)
def clipped_around_zero(ratio, epsilon):
    return ratio.clamp(-epsilon, epsilon)


@SLIPS.slip(
    "clipped_ratio",
    "The log-ratio is clipped to plus or minus epsilon before `exp`. The range is 1 - epsilon to 1 + epsilon for the "
    "ratio itself.",
)
def logarithm_clipped(log_ratio, epsilon):
    return torch.exp(log_ratio.clamp(-epsilon, epsilon))


SLIPS.extend(LOSS_SLIPS.named("epsilon_hard_coded"))
