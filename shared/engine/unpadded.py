"""A model's own forward pass on one row at a time: no padding, no cache, no pass of ours. Every other pass must equal it.

`shared.guard` measures with it before training; it is far too slow to train with.
"""

from types import SimpleNamespace

import torch
from jaxtyping import Float, Int
from torch import Tensor


def base_model(model: torch.nn.Module) -> torch.nn.Module:
    """The model itself, or the one below peft's adapters."""
    return model.get_base_model() if hasattr(model, "get_base_model") else model


class RowByRow(torch.nn.Module):
    """`model` with another forward pass: a padded batch goes in and comes out, its rows pass one at a time, unpadded.

    Whoever scores with this scores with the model's own pass.
    """

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, input_ids: Int[Tensor, "B W"], attention_mask: Int[Tensor, "B W"], **ignored) -> SimpleNamespace:
        """`logits` (B, W, V) of all tokens, 0 at the padding. The model makes the positions itself."""
        rows = [self.row(ids, real) for ids, real in zip(input_ids, attention_mask.bool())]
        return SimpleNamespace(logits=torch.stack(rows))

    def row(self, ids: Int[Tensor, "W"], real: Tensor) -> Float[Tensor, "W V"]:
        logits = self.model(input_ids=ids[real][None], use_cache=False).logits[0]  # (tokens, V)
        return logits.new_zeros(len(ids), logits.size(-1)).masked_scatter(real[:, None], logits)
