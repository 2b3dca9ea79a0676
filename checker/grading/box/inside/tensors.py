"""Tensors as JSON, bit for bit: the shape, and the bytes of float64 in base64."""

import base64
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

MOST_AXES = 8  # of a tensor: a shape is written into a verdict
LONGEST_TEXT = 400_000  # characters of a text that a function returned, which is compared and may be long


def encoded_tensor(tensor: "Tensor | None") -> dict | None:
    """{"shape": [2], "float64": "..."}: the shape, and the numbers' bytes row by row, in base64. None for None."""
    if tensor is None:
        return None
    import torch

    numbers = array("d", torch.as_tensor(tensor).detach().double().flatten().tolist())
    return {"shape": list(tensor.shape), "float64": base64.b64encode(numbers.tobytes()).decode()}


def decoded_tensor(record: object) -> "Tensor | None":
    """The float64 tensor that a record stands for; None for anything that is no such record."""
    import torch

    try:
        shape = [int(length) for length in record["shape"]]
        if len(shape) > MOST_AXES:
            return None
        numbers = array("d", base64.b64decode(record["float64"], validate=True))
        return torch.tensor(numbers, dtype=torch.float64).view(shape)
    except (TypeError, KeyError, ValueError, RuntimeError, OverflowError):
        return None
