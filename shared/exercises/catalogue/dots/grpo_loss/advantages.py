"""Slips of the policy term: its sign, and the advantages that weigh it."""

from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "token_advantages",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. "
    "Write `advantages[:, None]`.",
)
def advantages_along_tokens(advantages):
    return advantages[None, :]


SLIPS.extend(LOSS_SLIPS.named("advantages_normalised"))
