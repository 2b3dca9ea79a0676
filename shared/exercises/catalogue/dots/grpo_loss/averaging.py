"""Slips of the mask and the mean: which tokens count, in what order means are taken; and whether a gradient is left."""

import torch

from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "completion_mask",
    "The mask is not used: padding counts as tokens. Multiply by `completion_mask` and divide by its sum.",
)
def mask_ignored(completion_mask):
    return torch.ones_like(completion_mask)


@SLIPS.slip(
    "per_completion",
    "You mask, but then divide by all positions, padding included: short completions count for less. Divide by each "
    "completion's own number of tokens, `completion_mask.sum(dim=1)`.",
)
def divided_by_all_positions(per_token, completion_mask):
    return (per_token * completion_mask).mean(dim=1)


@SLIPS.slip(
    "per_completion",
    "You divide by the number of tokens but do not mask what you add up: the padding is in the sum.",
)
def padding_in_the_sum(per_token, completion_mask):
    return per_token.sum(dim=1) / completion_mask.sum(dim=1)


@SLIPS.slip(
    "loss",
    "You average over all tokens of the batch at once, so long completions count for more. That is DAPO's choice "
    '(`loss_type="dapo"`); GRPO takes the mean of each completion first, then the mean over completions.',
)
def one_mean_over_tokens(per_token, completion_mask):
    return (per_token * completion_mask).sum() / completion_mask.sum()


@SLIPS.slip(
    "completion_mask",
    "The last token of each completion is left out, so that the decision to stop is never trained. The mask is 1 up to "
    "and including the end.",
)
def last_token_left_out(completion_mask):
    following = torch.cat([completion_mask[:, 1:], torch.zeros_like(completion_mask[:, :1])], dim=1)
    return torch.where(completion_mask.sum(dim=1, keepdim=True) > 1, following, completion_mask)


SLIPS.extend(LOSS_SLIPS.named("gradient_missing", "not_averaged"))
