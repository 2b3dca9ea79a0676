"""A second device for the tests, made of the CPU: tensors that live elsewhere, by the rules that CUDA's live by.

    with second_device() as device:
        model.to(DEVICE)
        ...
    print(device.transfers)

The device's tensors hold their numbers on the CPU and are computed with the CPU's kernels, so results are the CPU's bit
for bit. torch, transformers, peft and the course see tensors of another device and are not changed. They are told that
it is torch's "lazy" device: a CPU build knows it by name, has no kernels for it, and differentiates in the caller's
thread.

What it emulates (`tests/second_device_rules.py` has the rules, after ATen's sources):

- no operation mixes devices, but for copies from one to the other, CPU tensors without dimensions in elementwise
  operations, and CPU indices of a tensor on the device;
- no random operation takes the other device's generator, and the device draws other numbers than the CPU from a seed;
- `numpy()` refuses a tensor of the device;
- each transfer to the host, for which a GPU is waited for, is counted, with the line that asked for it; so is each copy
  of the host's tensors to the device, for which it is waited for too unless they come from pinned memory.

It was compared with a real GPU once, an NVIDIA H200 with torch 2.11: the GPU refused what is refused here, let through
what is let through, and waited for each transfer that is counted, more than once for some (`bincount`, `isin`), not for
`torch.equal`. What is not shown here: the rounding of its kernels (the last digits of a loss differ), operations that it
lacks, streams, CUDA graphs, memory, autocast and bfloat16, loading to the device (what is saved comes back to the CPU, as
with map_location="cpu"), moving a model whose parameters an autograd graph still holds, the threads in which a GPU's
gradients are computed (once they run, a forked process can compute none), and whether anything is fast.
"""

import contextlib
import importlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from shared import rollout
from shared.engine import checkpoint
from shared.engine.llama import llama_in
from tests.second_device_rules import mapped, refuse_foreign_generator, tensors_in
from tests.second_device_tensor import CPU, DEVICE, Generator, SecondDevice, SecondDeviceTensor


@contextlib.contextmanager
def second_device() -> Iterator[SecondDevice]:
    """Plug the device in for a block: `DEVICE` can be used in it, and `transfers` of what this gives are counted."""
    device = SecondDevice()
    with contextlib.ExitStack() as stack:
        for module, name, replacement in replacements(device):
            stack.enter_context(mock.patch.object(module, name, replacement))
        stack.enter_context(own_kernel("silu_backward"))
        stack.enter_context(parameters_stay_themselves())
        stack.enter_context(AboveDispatch())
        stack.enter_context(device)
        yield device


@contextlib.contextmanager
def with_its_operations() -> Iterator[None]:
    """Let the CPU run what a device runs, so that both round alike: one kernel of attention, and sampling in lockstep."""
    in_lockstep = mock.patch.object(rollout, "takes_lockstep", lambda model: llama_in(model) is not None)
    with sdpa_kernel(SDPBackend.MATH), in_lockstep:
        yield


def replacements(device: SecondDevice) -> list[tuple]:
    """Functions that ask a list of names or C++ for the device, and would not find it: (module, name, replacement)."""
    seed_cpu = torch.manual_seed
    autocast = torch.autocast
    is_autocast_enabled = torch.is_autocast_enabled

    def manual_seed(seed: int) -> torch.Generator:
        device.manual_seed(seed)
        return seed_cpu(seed)

    def autocast_elsewhere(device_type: str, *args, enabled: bool = True, **kwargs):
        if device_type != DEVICE.type:
            return autocast(device_type, *args, enabled=enabled, **kwargs)
        if enabled:
            raise NotImplementedError("The second device has no autocast: train on it without bf16.")
        return contextlib.nullcontext()

    def is_autocast_enabled_elsewhere(*device_type: str) -> bool:
        return DEVICE.type not in device_type and is_autocast_enabled(*device_type)

    def devices_with_fused_kernels() -> list[str]:
        return ["cpu", "cuda", DEVICE.type]

    optimizer = importlib.import_module("torch.optim.optimizer")  # `torch.optim.optimizer` is another thing
    saved_types = (*checkpoint.PLAIN, SecondDeviceTensor)  # a GPU's tensors are of torch's own class
    return [
        (torch, "Generator", Generator),
        (torch, "manual_seed", manual_seed),
        (torch, "autocast", autocast_elsewhere),
        (torch, "is_autocast_enabled", is_autocast_enabled_elsewhere),
        (checkpoint, "PLAIN", saved_types),
        (optimizer, "_get_fused_kernels_supported_devices", devices_with_fused_kernels),
    ]


@contextlib.contextmanager
def own_kernel(operation: str) -> Iterator[None]:
    """Keep torch from splitting an operation into others, as it does for a device without a kernel of its own."""
    with torch.library._scoped_library("aten", "IMPL") as library:
        library.impl(operation, SecondDeviceTensor.__torch_dispatch__, "Lazy")
        yield


@contextlib.contextmanager
def parameters_stay_themselves() -> Iterator[None]:
    """`model.to(...)` fills the parameters that are there, as on the way to CUDA: what is tied stays tied.

    No other call does: `load_state_dict` would leave parameters without their gradients.
    """
    convert = torch.nn.Module._apply

    def convert_in_place(module, *args, **kwargs):
        before = torch.__future__.get_swap_module_params_on_conversion()
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            return convert(module, *args, **kwargs)
        finally:
            torch.__future__.set_swap_module_params_on_conversion(before)

    with mock.patch.object(torch.nn.Module, "_apply", convert_in_place):
        yield


class AboveDispatch(TorchFunctionMode):
    """A look at calls before torch's own C++ sees them: at generators of another device, and tensors made of numbers."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if kwargs.get("generator") is not None:
            first = next(iter(tensors_in(args)), None)
            drawn_on = kwargs.get("device") or (CPU if first is None else first.device)
            refuse_foreign_generator(torch.device(drawn_on), kwargs["generator"])
        if func in (torch.tensor, torch.as_tensor):
            return made_of_numbers(func, *args, **kwargs)
        if func is torch.Tensor.new_tensor:
            like, data = args
            return made_of_numbers(torch.tensor, data, **{"device": like.device, "dtype": like.dtype} | kwargs)
        if func is torch.Tensor.__getitem__ and isinstance(args[0], SecondDeviceTensor):
            tensor, index = args
            return func(tensor, index_on_the_host(index))
        if func is torch.Tensor.__setitem__ and isinstance(args[0], SecondDeviceTensor):
            tensor, index, value = args
            value = value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=tensor.dtype)
            return func(tensor, index_on_the_host(index), value)
        return func(*args, **kwargs)


def made_of_numbers(func, data, *, device=None, requires_grad=False, **kwargs) -> torch.Tensor:
    """`torch.tensor` or `torch.as_tensor`: on the CPU first, then copied; torch's C++ cannot make it on the device."""
    if isinstance(data, torch.Tensor):
        made = data.to(device=device, dtype=kwargs.get("dtype"))
        made = made.detach().clone() if func is torch.tensor else made
    else:
        made = func(mapped(torch.Tensor.item, data), **kwargs).to(device)
    return made.requires_grad_() if requires_grad else made


def index_on_the_host(index):
    """Lists of numbers among the indices as CPU tensors."""
    if isinstance(index, tuple):
        return tuple(map(index_on_the_host, index))
    return torch.tensor(index) if isinstance(index, list) else index
