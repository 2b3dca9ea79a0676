"""LoRA adapters as part of the weights, for as long as a block of code lasts (optional reading).

An adapted layer computes W x + s B (A x): two small products beside the large one, for each token and layer. W + s B A is
one matrix, and sampling, whose products are small, does with one product instead of three. The weights that were there
are put back, not computed back: nothing drifts. Left as they are: 4-bit and 16-bit weights, in which a small change
would be rounded away, adapters with dropout, of another kind than LoRA, or switched off, and models outside of the
Llama family: some of them multiply by a layer's weight themselves, past its adapter (Jamba). While the block lasts the
adapted matrices are in memory twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from shared.engine.llama import llama_in


@contextmanager
def merged_adapters(model: nn.Module) -> Iterator[None]:
    """Inside the block each LoRA adapter that can be is merged into its matrix. For what computes no gradient."""
    adapted = hasattr(model, "peft_config") and llama_in(model) is not None
    layers = [layer for layer in model.modules() if can_be_merged(layer)] if adapted else []
    weights = [layer.base_layer.weight for layer in layers]
    try:
        for layer, weight in zip(layers, weights):
            with torch.no_grad(), torch.autocast(weight.device.type, enabled=False):
                merged = weight + layer.get_delta_weight(layer.active_adapters[0])
            layer.base_layer.weight = nn.Parameter(merged, requires_grad=False)
            layer.merged_adapters = list(layer.active_adapters)  # its forward pass leaves the adapter out then
        yield
    finally:
        for layer, weight in zip(layers, weights):
            layer.base_layer.weight = weight
            layer.merged_adapters = []


def can_be_merged(layer: nn.Module) -> bool:
    """True for a float32 matrix with one plain LoRA adapter on it."""
    from peft.tuners.lora import Linear

    if type(layer) is not Linear or type(layer.base_layer) is not nn.Linear or len(layer.active_adapters) != 1:
        return False
    (adapter,) = layer.active_adapters
    plain = not layer.lora_variant and not layer.lora_bias[adapter] and type(layer.lora_dropout[adapter]) is nn.Identity
    return plain and layer.base_layer.weight.dtype == torch.float32 and not layer.merged and not layer.disable_adapters
