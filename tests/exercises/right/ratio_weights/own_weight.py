"""Weights that can stand in for the ratio: nothing says which of them is asked for."""

import torch

from shared.losses import ratio_weight

ORACLE = None


def smooth(ratio, advantages):
    return 2 * torch.sigmoid(ratio.log())


def bounded(ratio, advantages):
    return ratio.clamp(max=2.0)


def by_sign(ratio, A):
    return torch.where(A > 0, ratio.clamp(max=3), ratio.clamp(max=1))


def gated(ratio, A):
    return ratio_weight(ratio.log(), A, "sapo").nan_to_num()


def none(ratio, A):
    return torch.ones_like(ratio)


def band(ratio, A):
    return ratio * ((ratio > 0.5) & (ratio < 2))


RIGHT = [smooth, bounded, by_sign, gated, none, band]

EQUIVALENT = {
    "weight: return 2 / (1 + ratio)": "another weight of one's own: it falls as the ratio rises, and nothing forbids that",
    "advantages is always 0": "a weight need not look at the advantage, and the reference does not",
}
