"""A call as it came out of a box: the result as it is, and what became of the arguments. It is judged outside.

A student's code may replace whatever looks at a type or at an argument beside it. So a box says what a function returned
and what it left, and `checker/grading/judge/oracle/outside.py` finds in a process of its own what is wrong with it.

    a list of two floats    {"list": [0.5, 1.0]}
    a tensor of booleans    {"tensor": "bool", "shape": [2], "float64": "..."}
    an object               {"other": "Series"}     which only the box can read
"""

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from checker.grading.box.inside.tensors import LONGEST_TEXT, decoded_tensor, encoded_tensor

DEEPEST = 6  # lists in lists
LARGEST = 2**63  # of an int that a tensor holds
LONGEST_NAME = 60


class Other(Exception):
    """An error for a result that cannot be carried over; the message is the name of its type."""


def observed(result, arguments: dict) -> dict:
    """The record of what a function returned, and of the arguments as it left them.

    What is told of a part of a student's own task brings the answers that it was told by.
    """
    answers = {"answers": result.answers} if isinstance(result, str) and hasattr(result, "answers") else {}
    return {"result": _encoded(result), "left": {name: left(value) for name, value in arguments.items()}} | answers


def left(value) -> list:
    """An argument's fingerprint, whether a backward pass left gradients by it, and whether it asks for one (a tensor)."""
    from torch import Tensor
    from torch.nn import Module

    found = hashlib.sha256()
    for part in _parts(value):
        found.update(part)
    tensors = list(value.parameters()) if isinstance(value, Module) else [value] if isinstance(value, Tensor) else []
    has_gradient = any(tensor.is_leaf and tensor.grad is not None for tensor in tensors)
    return [found.hexdigest(), has_gradient, value.requires_grad if isinstance(value, Tensor) else None]


def _parts(value) -> Iterator[bytes]:
    """All that makes an argument equal to another, as bytes. Of an object that is equal to itself alone its type."""
    import numpy as np
    from torch import Tensor
    from torch.nn import Module

    yield type(value).__name__.encode()
    if isinstance(value, Module):
        yield from _parts(dict(value.state_dict()))
        yield repr([part.training for part in value.modules()]).encode()
    elif isinstance(value, Tensor):
        yield f"{value.dtype} {tuple(value.shape)}".encode()
        yield (value.detach().cpu().double().nan_to_num() + 0.0).numpy().tobytes()  # -0 is 0
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape}".encode()
        yield repr(value.tolist()).encode()
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _parts({field.name: getattr(value, field.name) for field in fields(value)})
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield repr(key).encode()
            yield from _parts(value[key])
    elif isinstance(value, (list, tuple)):
        yield str(len(value)).encode()
        for part in value:
            yield from _parts(part)
    elif value is None or isinstance(value, (str, int, float, bytes)):
        yield repr(value).encode()


def _encoded(value, depth: int = 0) -> object:
    """A result as JSON, with the types that a check looks at."""
    import numpy as np
    from torch import Tensor

    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)) and abs(int(value)) < LARGEST:
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, Tensor) and not value.is_complex():
        return {"tensor": str(value.dtype).removeprefix("torch.")} | encoded_tensor(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return {"array": str(value.dtype)} | encoded_tensor(value)
    for kind in (list, tuple):
        if isinstance(value, kind) and depth < DEEPEST:
            return {kind.__name__: [_encoded(part, depth + 1) for part in value]}
    if isinstance(value, dict) and depth < DEEPEST:
        return {"dict": [[_encoded(key, DEEPEST), _encoded(part, depth + 1)] for key, part in value.items()]}
    return None if value is None else {"other": type(value).__name__[:LONGEST_NAME]}


def decoded_result(record: object, depth: int = 0) -> object:
    """The result that a record stands for. Raises Other for one that was not carried over, and for what is none."""
    import torch

    if record is None or isinstance(record, (bool, int, float)):
        return record
    if isinstance(record, str):
        return record[:LONGEST_TEXT]
    if not isinstance(record, dict) or depth > DEEPEST:
        raise Other("object")
    tensor = decoded_tensor(record)
    name = record.get("tensor", record.get("array"))
    if tensor is not None and isinstance(name, str):
        dtype = getattr(torch, name, None)
        if "tensor" in record and not isinstance(dtype, torch.dtype):
            raise Other("object")
        try:
            return tensor.to(dtype) if "tensor" in record else tensor.numpy().astype(name)
        except (TypeError, RuntimeError, ValueError):
            raise Other("object") from None
    for kind, make in (("list", list), ("tuple", tuple)):
        if isinstance(record.get(kind), list):
            return make(decoded_result(part, depth + 1) for part in record[kind])
    if isinstance(record.get("dict"), list):
        pairs = [pair for pair in record["dict"] if isinstance(pair, list) and len(pair) == 2]
        return {str(pair[0]): decoded_result(pair[1], depth + 1) for pair in pairs}
    raise Other(str(record.get("other", "object"))[:LONGEST_NAME])
