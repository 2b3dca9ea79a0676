"""The tensors and generators of `tests.second_device`, and the mode that runs every operation on them."""

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.second_device_rules import copied_to_the_device, mapped, refuse_mixed_devices, tensors_in, transfer_in

DEVICE = torch.device("lazy", 0)
CPU = torch.device("cpu")
ROOT = str(Path(__file__).resolve().parent.parent) + "/"
# Changes the device's seeds: from the same seed a GPU draws other numbers than the CPU.
OTHER_SEED = 0x5EC0D


class SecondDeviceTensor(torch.Tensor):
    """A tensor of the second device; `held` is the CPU tensor with its numbers. `.to(DEVICE)` makes it."""

    held: torch.Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: torch.Tensor):
        tensor = torch.Tensor._make_wrapper_subclass(
            cls, held.size(), held.stride(), held.storage_offset(), dtype=held.dtype, device=DEVICE
        )
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError(f"{func} was called on a tensor of the second device outside of `with second_device():`.")

    def __repr__(self, **_) -> str:
        return f"on the second device: {self.held!r}"

    def __format__(self, form: str) -> str:
        return format(self.item(), form) if self.dim() == 0 else super().__format__(form)

    def __deepcopy__(self, memo: dict) -> torch.Tensor:
        if id(self) not in memo:
            copied = self.detach().clone()
            if isinstance(self, torch.nn.Parameter):
                copied = torch.nn.Parameter(copied)
            memo[id(self)] = copied.requires_grad_(self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int):
        """Saved, and loaded again, as the CPU's: what torch.load does of a GPU's tensor with map_location="cpu"."""
        return self.detach().cpu().__reduce_ex__(protocol)

    def tolist(self) -> list:
        return self.cpu().tolist()

    def numpy(self, **_):
        raise TypeError(
            f"can't convert {DEVICE} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.held.untyped_storage()


def held(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.held if isinstance(tensor, SecondDeviceTensor) else tensor


class Generator(torch.Generator):
    """The `torch.Generator` while the device is plugged in: one of the CPU or, on request, of the device."""

    def __new__(cls, device: torch.device | str = CPU):
        generator = super().__new__(cls)
        generator.on_device = torch.device(device).type == DEVICE.type
        generator.manual_seed(generator.initial_seed())
        return generator

    @property
    def device(self) -> torch.device:
        return DEVICE if self.on_device else CPU

    def manual_seed(self, seed: int) -> "Generator":
        super().manual_seed(seed ^ OTHER_SEED if self.on_device else seed)
        return self


@dataclass(frozen=True)
class Transfer:
    """One transfer: its kind, and the line of this project or of a notebook's cell that asked for it."""

    kind: str
    asked_by: str


def asking_line() -> str:
    """The innermost line of this project, the emulator's own aside, that led to the operation now running."""
    frame = sys._getframe()
    while frame is not None:
        file = frame.f_code.co_filename.removeprefix(ROOT)
        if not file.startswith(("/", "<", ".venv", "tests/second_device")):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "elsewhere"


class SecondDevice(TorchDispatchMode):
    """Runs each operation on the device's tensors, and keeps lists of the transfers to the host and of those from it."""

    def __init__(self):
        super().__init__()
        self.transfers: list[Transfer] = []
        self.arrivals: list[Transfer] = []
        self.manual_seed(0)

    def manual_seed(self, seed: int) -> None:
        self.random_state = Generator(DEVICE).manual_seed(seed).get_state()

    @contextlib.contextmanager
    def counted(self) -> Iterator[Counter]:
        """`with device.counted() as kinds:` gives a counter that has the block's transfers by kind when it ends."""
        kinds: Counter[str] = Counter()
        before = len(self.transfers)
        yield kinds
        kinds.update(transfer.kind for transfer in self.transfers[before:])

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = tensors_in((args, kwargs))
        asked_for = kwargs.get("device")
        anything_here = any(isinstance(tensor, SecondDeviceTensor) for tensor in given)
        result_here = anything_here if asked_for is None else asked_for.type == DEVICE.type
        if not anything_here and not result_here:
            return func(*args, **kwargs)

        if torch.Tag.inplace_view in func.tags:
            raise NotImplementedError(f"The second device does not know {func}, which gives a tensor another shape.")
        refuse_mixed_devices(func, args, given)
        kind = transfer_in(func, args, kwargs)
        if kind is not None:
            self.transfers.append(Transfer(kind, asking_line()))
        if result_here and copied_to_the_device(func, args, kwargs):
            self.arrivals.append(Transfer("copy", asking_line()))

        if asked_for is not None:
            kwargs = kwargs | {"device": CPU}
        with self._random_numbers(func, kwargs):
            result = func(*mapped(held, args), **mapped(held, kwargs))
        if not result_here:
            return result
        changed_in_place = {id(held(tensor)): tensor for tensor in given}  # is given back as it is

        def on_the_device(tensor: torch.Tensor) -> torch.Tensor:
            return changed_in_place[id(tensor)] if id(tensor) in changed_in_place else SecondDeviceTensor(tensor)

        return mapped(on_the_device, result)

    @contextlib.contextmanager
    def _random_numbers(self, func, kwargs: dict) -> Iterator[None]:
        """For a random operation without a generator: the device's own stream, and the CPU's left where it was."""
        if torch.Tag.nondeterministic_seeded not in func.tags or kwargs.get("generator") is not None:
            yield
            return
        of_the_cpu = torch.get_rng_state()
        torch.set_rng_state(self.random_state)
        try:
            yield
        finally:
            self.random_state = torch.get_rng_state()
            torch.set_rng_state(of_the_cpu)
