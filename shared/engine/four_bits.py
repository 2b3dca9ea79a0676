"""Optional reading: matrices of 4-bit numbers on the CPU, multiplied as they are meant to be.

bitsandbytes keeps a matrix row after row in blocks of 64 numbers, each with a scale. Its kernel for the CPU (0.50.2)
counts the blocks of each row anew: where a row is no multiple of 64 long, as in the embedded model, all rows but the
first get the scales of others. As one long row the same numbers come out right.
"""

import copy
from functools import partial

import torch
from torch import Tensor, nn


def mend(model: nn.Module) -> None:
    """Make the 4-bit layers of a model on the CPU right, and differentiable: a faster kernel is for inference only."""
    for layer in model.modules():
        if not hasattr(layer, "support_avx512bf16_for_cpu"):
            continue
        layer.support_avx512bf16_for_cpu = False
        if layer.in_features % layer.weight.quant_state.blocksize != 0:
            layer.forward = partial(multiplied, layer)


def multiplied(layer: nn.Module, x: Tensor) -> Tensor:
    """The product of a 4-bit layer and x, (..., inputs) to (..., outputs)."""
    weight = as_numbers(layer.weight).to(x.dtype)
    bias = None if layer.bias is None else layer.bias.to(x.dtype)
    return nn.functional.linear(x, weight, bias)


@torch.no_grad()
def as_numbers(weight: nn.Parameter) -> Tensor:
    """The numbers that a 4-bit matrix stands for, (outputs, inputs)."""
    from bitsandbytes.functional import dequantize_4bit

    shape = weight.quant_state.shape
    one_row = copy.copy(weight.quant_state)
    one_row.shape = torch.Size((1, shape.numel()))
    return dequantize_4bit(weight.data, one_row).view(shape)
