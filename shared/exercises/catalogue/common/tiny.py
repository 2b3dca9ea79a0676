"""Tiny random models, and padded prompts and completions, for the exercises with a model."""

from functools import lru_cache

import torch
from torch import Tensor

from shared.exercises.drawing import Draw
from shared.exercises.stand_ins.tiny_model import TinyModel
from shared.exercises.stand_ins.tokens import END

VOCABULARY = 16
SHARP = 3  # the model for which some tokens are next to impossible, as for one that was trained


@lru_cache
def tiny_model(seed: int = 0) -> TinyModel:
    """A random model with learned positions, in which every slip with padding shows. That of SHARP is nearly certain."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TinyModel(VOCABULARY, spread=1.5 if seed == SHARP else 0.5).eval()


def tokens(draw: Draw, *shape: int) -> Tensor:
    """Random tokens, none of them the end; 0 is one as any other."""
    return torch.tensor(draw.some([0, *range(2, VOCABULARY)], torch.Size(shape).numel())).view(shape)


def prompts(draw: Draw, N: int, P: int) -> tuple[Tensor, Tensor]:
    """Ids and mask (N, P), padded on the left with END; a real token may be END too, as between turns of a chat."""
    mask = draw.mask(N, P).flip(1)
    ends = torch.tensor(draw.some([False, False, False, True], N * P)).view(N, P)
    return torch.where((mask == 1) & ~ends, tokens(draw, N, P), END), mask


def completions(draw: Draw, B: int, C: int) -> tuple[Tensor, Tensor]:
    """Ids and mask (B, C), padded on the right; those that are not cut end with END, which counts."""
    mask = draw.mask(B, C)
    ids = torch.where(mask == 1, tokens(draw, B, C), END)
    last = mask.sum(dim=1) - 1
    for row in range(B):
        if last[row] < C - 1 or draw.random() < 0.5:
            ids[row, last[row]] = END
    return ids, mask
