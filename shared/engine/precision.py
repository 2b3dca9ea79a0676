"""Half precision where it pays: matrix products in bfloat16, weights and their updates in float32.

In pure bfloat16 an update smaller than a 256th of a weight is rounded away, and most of a fine-tuning's updates are.
So weights stay float32 ("master weights") and autocast rounds copies of them for each matrix product.
"""

from contextlib import AbstractContextManager

import torch


def has_bf16(device: torch.device) -> bool:
    """True if the device multiplies bfloat16 matrices in hardware; the CPU may, but gains little and is not counted."""
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def autocast(device: torch.device, bf16: bool | None) -> AbstractContextManager:
    """The context in which a policy samples and scores: bfloat16 products when `bf16`, None being `has_bf16`."""
    enabled = has_bf16(device) if bf16 is None else bf16
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)
