"""A sampler of few bits: the model with rounded weights, for as long as a block of code lasts (optional reading).

Large systems sample with an engine of its own, in bfloat16 or in 8 or 4 bits, and train in float32. The two have the
same weights and are not the same policy. Here that difference can be had in any size, on the CPU, where rounding saves
no time. The weights that were there are put back, not computed back: nothing drifts.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

BFLOAT16 = 16
BITS = (*range(2, 9), BFLOAT16)
BLOCK = 32  # numbers of a row that share their range


@contextmanager
def rounded_weights(model: nn.Module, bits: int) -> Iterator[None]:
    """Inside the block the matrices of the linear layers are rounded to so many bits; 0 leaves them as they are.

    Embeddings, and an output layer that shares theirs, keep their precision, as do 4-bit matrices. For what computes no
    gradient. Raises ValueError for a model without a matrix that could be rounded.
    """
    layers = layers_to_round(model) if bits else []
    weights = [layer.weight for layer in layers]
    try:
        for layer, weight in zip(layers, weights):
            layer.weight = nn.Parameter(rounded(weight.detach(), bits), requires_grad=False)
        yield
    finally:
        for layer, weight in zip(layers, weights):
            layer.weight = weight


def layers_to_round(model: nn.Module) -> list[nn.Module]:
    """The linear layers whose matrices are numbers of their own."""
    embeddings = {id(layer.weight) for layer in model.modules() if isinstance(layer, nn.Embedding)}
    layers = [layer for layer in model.modules() if isinstance(layer, nn.Linear | Conv1D)]
    layers = [layer for layer in layers if layer.weight.is_floating_point() and id(layer.weight) not in embeddings]
    if not layers:
        raise ValueError("The model has no linear layer whose weights could be rounded: leave sampler_bits at 0.")
    return layers


def rounded(weight: Float[Tensor, "rows columns"], bits: int) -> Float[Tensor, "rows columns"]:
    """The matrix in so many bits: each block of 32 numbers of a row on 2^bits even levels from its least to its largest.

    In 2 bits a block from -0.3 to 0.6 has the levels -0.3, 0, 0.3 and 0.6, and 0.2 becomes 0.3. 16 bits are bfloat16.

    Raises ValueError for a number of bits other than 2 to 8 and 16.
    """
    if bits not in BITS:
        raise ValueError(f"weights cannot be rounded to {bits} bits; choose 2 to 8, or 16 for bfloat16.")
    if bits == BFLOAT16:
        return weight.to(torch.bfloat16).to(weight.dtype)
    return torch.cat([_on_levels(block, 2**bits) for block in weight.split(BLOCK, dim=1)], dim=1)


def _on_levels(block: Float[Tensor, "rows columns"], levels: int) -> Float[Tensor, "rows columns"]:
    low, high = block.aminmax(dim=1, keepdim=True)
    step = ((high - low) / (levels - 1)).clamp(min=torch.finfo(block.dtype).tiny)
    return low + ((block - low) / step).round() * step
