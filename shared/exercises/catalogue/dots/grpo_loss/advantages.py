"""Slips of the policy term: its sign, and the advantages that weigh it."""

import torch

from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "surrogate",
    "The sign of the policy term is flipped: an optimiser minimises, so the loss is minus the surrogate. As it stands, "
    "training makes bad completions more likely.",
)
def maximised_instead(surrogate):
    return -surrogate


@SLIPS.slip(
    "loss",
    "The whole loss has the wrong sign: yours is the objective, which is to grow, and an optimiser minimises. It is minus "
    "the surrogate, plus beta times the KL.",
)
def objective_instead(loss):
    return -loss


@SLIPS.slip(
    "token_advantages",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. "
    "Write `advantages[:, None]`.",
)
def advantages_along_tokens(advantages):
    return advantages[None, :]


@SLIPS.slip("token_advantages", "The advantages are not used: every completion counts as if its advantage were 1.")
def advantages_forgotten(logps):
    return torch.ones_like(logps)


SLIPS.extend(LOSS_SLIPS.named("advantages_normalised"))


@SLIPS.slip("advantages", "The sign of an advantage is lost: you take its absolute value.")
def advantages_absolute(advantages):
    return advantages.abs()
