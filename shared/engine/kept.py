"""What a forward pass keeps for its backward pass: most of the memory of training, and the same on every machine."""

from collections.abc import Callable

import torch
from torch import Tensor


def megabytes_for_backward(forward: Callable[[], object]) -> float:
    """Megabytes of the tensors that autograd saves while `forward` runs; two that share their storage count once.

    Parameters that the pass saves are among them.
    """
    kept: dict[int, int] = {}  # the bytes at each address

    def note(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        forward()
    return sum(kept.values()) / 1e6
