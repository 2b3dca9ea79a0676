"""The operations that CUDA refuses and those that wait for it, each a function: the rules of `tests.second_device`.

An operation is refused or counted as ATen's sources say; what a GPU did when it was asked, `tests.second_device` tells.
That an operation asks for a value only inside of it (`masked_scatter_backward` does, `multinomial` no longer) torch's
profiler shows on the CPU.
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
    aten.masked_fill.Tensor,
    aten.masked_fill_.Tensor,
    aten.fill.Tensor,
    aten.fill_.Tensor,
    aten.index_fill.int_Tensor,
    aten.index_fill_.int_Tensor,
}
# Marked as elementwise, yet their bounds must lie on the device.
TAKE_NO_SCALAR = {aten.clamp.Tensor, aten.clamp_min.Tensor, aten.clamp_max.Tensor}
# The host waits for a size or a value; once or more counts as one.
WAITED_FOR = {
    aten._local_scalar_dense.default: "item",
    aten.nonzero.default: "nonzero",
    aten.masked_select.default: "masked_select",
    aten.masked_scatter_backward.default: "masked_select",
    aten._unique.default: "unique",
    aten._unique2.default: "unique",
    aten.unique_dim.default: "unique",
    aten.unique_consecutive.default: "unique",
    aten.unique_dim_consecutive.default: "unique",
    aten.bincount.default: "bincount",
    aten.equal.default: "equal",
    aten.allclose.default: "equal",
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
    marked = torch.Tag.pointwise in func.tags and func not in TAKE_NO_SCALAR
    elementwise = marked or func in TAKE_A_SCALAR or func.__name__.startswith("_foreach")
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


def transfer_in(func, args: Sequence, kwargs: dict) -> str | None:
    """The kind of transfer to the host that an operation on tensors of the device makes; None for most operations."""
    if func in WAITED_FOR:
        return WAITED_FOR[func]
    if func is aten._to_copy.default:
        target = kwargs.get("device")
        return "copy" if target is not None and target.type == "cpu" else None
    if func is aten.copy_.default:
        return "copy" if on_host(args[0]) else None
    if func in INDEXED_READS:
        return "mask" if masks_in(args[1]) else None
    if func in INDEXED_WRITES:
        if on_host(args[0]):
            return "copy"
        return "mask" if masks_in(args[1]) and not is_a_fill(args) else None
    if func is aten.repeat_interleave.Tensor:
        return "repeat_interleave" if kwargs.get("output_size") is None else None
    if func is aten.isin.Tensor_Tensor:
        few = int(10 * args[0].numel() ** 0.145)  # so many are compared one by one, more are sorted
        return "unique" if args[1].numel() >= few else None
    return None


def copied_to_the_device(func, args: Sequence, kwargs: dict) -> bool:
    """True for an operation that takes a tensor of the host to the device: a GPU waits for it, unless it was pinned."""
    if func is aten._to_copy.default:
        return on_host(args[0])
    if func is aten.copy_.default:
        return not on_host(args[0]) and on_host(args[1])
    if func in INDEXED_READS | INDEXED_WRITES:
        return any(index is not None and on_host(index) for index in args[1])
    return False


def masks_in(indices: Sequence[Tensor | None]) -> list[Tensor]:
    """The boolean indices that lie on the device: how many elements they choose is known there only."""
    masks = (torch.bool, torch.uint8)
    return [index for index in indices if index is not None and index.dtype in masks and not on_host(index)]


def is_a_fill(args: Sequence) -> bool:
    """`x[mask] = number` is a masked fill, with nothing to wait for, when the number is Python's or a CPU tensor's."""
    _, indices, value, *accumulate = args
    one_mask = len(tensors_in(indices)) == len(masks_in(indices)) == 1
    return one_mask and value.numel() == 1 and on_host(value) and not any(accumulate)
