"""Half precision where it pays: matrix products in bfloat16, weights and their updates in float32.

In pure bfloat16 an update smaller than a 256th of a weight is rounded away, and most of a fine-tuning's updates are.
So weights stay float32 ("master weights") and autocast rounds copies of them for each matrix product.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

LOOKED_AT = 1000  # weights of each tensor whose movement is measured
FEWEST_MOVED = 0.5  # of the weights that have a gradient
ROUNDED_AWAY = (
    "Of the weights that have a gradient {share:.2%} changed in step {step}: they are 16-bit numbers, and most updates at a "
    'learning_rate of {rate:g} are less than half of the way to the next one. Load the model with dtype="float32", whose '
    "products may still be in bfloat16 (bf16=True), or take a larger learning_rate."
)


def has_bf16(device: torch.device) -> bool:
    """True if the device multiplies bfloat16 matrices in hardware; the CPU may, but gains little and is not counted."""
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def autocast(device: torch.device, bf16: bool | None) -> AbstractContextManager:
    """The context in which a policy samples and scores: bfloat16 products when `bf16`, None being `has_bf16`."""
    enabled = has_bf16(device) if bf16 is None else bf16
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


def half_precision_weights(optimizer: Optimizer) -> dict[nn.Parameter, Tensor]:
    """A sample of the 16-bit weights that are trained, as they are now; {} for none."""
    trained = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return {parameter: _some_of(parameter).clone() for parameter in trained if parameter.itemsize < 4}


def share_moved(before: Mapping[nn.Parameter, Tensor], optimizer: Optimizer) -> float:
    """The share of a sample's weights that changed, of those that AdamW has a direction for; 1 where it has none."""
    moved = asked = 0
    for parameter, old in before.items():
        if "exp_avg" in optimizer.state[parameter]:
            has_direction = _some_of(optimizer.state[parameter]["exp_avg"]) != 0
            moved += int(((_some_of(parameter) != old) & has_direction).sum())
            asked += int(has_direction.sum())
    return moved / asked if asked else 1.0


def _some_of(tensor: Tensor) -> Tensor:
    return tensor.detach().flatten()[:: max(1, tensor.numel() // LOOKED_AT)]
