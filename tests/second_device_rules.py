"""What CUDA refuses and what it waits for, as functions of one operation: the rules of `tests.second_device`.

An operation is refused or counted as ATen's sources for torch 2.13 say; no GPU was there to ask.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

aten = torch.ops.aten

# Copies go from any device to any other.
COPIES = {aten._to_copy.default, aten.copy_.default}
INDEXED_READS = {aten.index.Tensor, aten._unsafe_index.Tensor}
INDEXED_WRITES = {aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default}
# Not marked as elementwise in torch's table, yet their value may be a CPU tensor without dimensions.
TAKE_A_SCALAR = {
    aten.masked_fill.Tensor, aten.masked_fill_.Tensor, aten.fill.Tensor, aten.fill_.Tensor,
    aten.index_fill.int_Tensor, aten.index_fill_.int_Tensor,
}
# The host waits for a size or a value, so many times.
WAITED_FOR = {
    aten._local_scalar_dense.default: ("item", 1),
    aten.nonzero.default: ("nonzero", 1),
    aten.masked_select.default: ("masked_select", 1),
    aten._unique.default: ("unique", 1),
    aten._unique2.default: ("unique", 1),
    aten.unique_dim.default: ("unique", 1),
    aten.unique_consecutive.default: ("unique", 1),
    aten.unique_dim_consecutive.default: ("unique", 1),
    aten.bincount.default: ("bincount", 1),
    aten.equal.default: ("equal", 1),
    aten.allclose.default: ("equal", 1),
}


def mapped(function: Callable[[Tensor], Tensor], value):
    """`value` with every tensor in its lists, tuples and dicts replaced."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(function, part) for part in value)
    if isinstance(value, dict):
        return {name: mapped(function, part) for name, part in value.items()}
    return value


def tensors_in(value) -> list[Tensor]:
    """Every tensor in nested lists, tuples and dicts."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for part in value for tensor in tensors_in(part)]
    return []


def on_host(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu"


def refuse_mixed_devices(func, args: Sequence, given: Sequence[Tensor]) -> None:
    """Raise RuntimeError where the tensors given to an operation live on two devices and CUDA does not allow it."""
    hosts = [tensor for tensor in given if on_host(tensor)]
    if not hosts or len(hosts) == len(given) or func in COPIES:
        return
    if func in INDEXED_READS or func in INDEXED_WRITES:
        refuse_foreign_index(func, args)
        return
    elementwise = torch.Tag.pointwise in func.tags or func in TAKE_A_SCALAR or func.__name__.startswith("_foreach")
    in_place_on_the_host = torch.Tag.inplace in func.tags and on_host(args[0])
    if elementwise and not in_place_on_the_host and all(tensor.dim() == 0 for tensor in hosts):
        return
    raise mixed(given, func)


def refuse_foreign_index(func, args: Sequence) -> None:
    """A tensor takes indices of its own device or of the CPU; what is written is of its device, or a single number."""
    tensor, indices, *written = args
    if on_host(tensor) and not all(map(on_host, tensors_in(indices))):
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
    if func in INDEXED_WRITES and written[0].device != tensor.device and written[0].dim() > 0:
        raise mixed([tensor, written[0]], func)


def mixed(tensors: Sequence[Tensor], func) -> RuntimeError:
    found = sorted({str(tensor.device) for tensor in tensors}, reverse=True)
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {' and '.join(found)}! "
        f"(when calling {func})"
    )


def refuse_foreign_generator(device: torch.device, generator: torch.Generator) -> None:
    """Raise RuntimeError where random numbers are drawn on one device with the generator of another."""
    if generator.device.type != device.type:
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found '{generator.device.type}'")


def transfers_in(func, args: Sequence, kwargs: dict) -> list[str]:
    """The kinds of transfer to the host in one operation on tensors of the device, one entry for each; mostly none."""
    if func in WAITED_FOR:
        kind, times = WAITED_FOR[func]
        return [kind] * times
    if func is aten._to_copy.default:
        target = kwargs.get("device")
        leaves = target is not None and target.type == "cpu" and not on_host(args[0])
        return ["copy"] if leaves else []
    if func is aten.copy_.default:
        return ["copy"] if on_host(args[0]) and not on_host(args[1]) else []
    if func in INDEXED_READS:
        return ["mask"] * len(masks_in(args[1]))
    if func in INDEXED_WRITES:
        return [] if is_a_fill(args) else ["mask"] * len(masks_in(args[1]))
    if func is aten.repeat_interleave.Tensor:
        return [] if kwargs.get("output_size") is not None else ["repeat_interleave"]
    if func is aten.multinomial.default:
        with_replacement = len(args) > 2 and args[2]
        return [] if with_replacement and args[1] > 1 else ["multinomial", "multinomial"]  # are the weights valid? is one > 0?
    if func is aten.isin.Tensor_Tensor:
        return ["unique"] if args[1].numel() >= 10 * args[0].numel() ** 0.145 else []  # else compared one by one
    return []


def masks_in(indices: Sequence[Tensor | None]) -> list[Tensor]:
    """The boolean indices that lie on the device: how many elements they choose is known there only."""
    masks = (torch.bool, torch.uint8)
    return [index for index in indices if index is not None and index.dtype in masks and not on_host(index)]


def is_a_fill(args: Sequence) -> bool:
    """`x[mask] = number` is a masked fill, and nothing is waited for, while the number is Python's or a CPU tensor's."""
    value = args[2]
    accumulated = len(args) > 3 and args[3]
    return value.numel() == 1 and on_host(value) and not accumulated
