"""Checks that there is room for a model, before it is loaded: a process that runs out of memory is ended without a word."""

import shutil
import warnings
from pathlib import Path

import psutil
import torch

GIGABYTE = 1e9
# 4 bits, and a float32 scale for each block of 64 weights (Dettmers et al. 2023, arXiv:2305.14314).
BYTES_OF_A_4_BIT_WEIGHT = 0.5 + 4 / 64
# Training all weights keeps a gradient and AdamW's two averages beside each.
COPIES_IN_TRAINING = 4
CGROUPS = Path("/sys/fs/cgroup")


class NoRoom(ValueError):
    """The model does not fit; the message says how much is missing and what to do."""


def weights_take(parameters: int, dtype: torch.dtype, four_bit: bool = False) -> int:
    """Bytes of so many weights. In 4 bits a lower bound: embeddings stay as they are."""
    return int(parameters * (BYTES_OF_A_4_BIT_WEIGHT if four_bit else dtype.itemsize))


def free_memory(device: torch.device) -> int:
    """Bytes that are free: the GPU's own with CUDA, else the machine's, or less where a container or a job has less."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return min([psutil.virtual_memory().available, *_left_to_groups()])


def _left_to_groups(groups: Path = CGROUPS, own: Path = Path("/proc/self/cgroup")) -> list[int]:
    """The memory that Linux leaves to each control group of this process (version 2); none elsewhere.

    What files were read is counted as used, and given back when it is needed: it counts as free here.
    """
    if not own.is_file():
        return []
    lines = [line.removeprefix("0::/") for line in own.read_text().splitlines() if line.startswith("0::/")]
    left = []
    for line in lines:
        folder = groups / line
        for group in [folder, *folder.parents]:
            if not group.is_relative_to(groups) or not (group / "memory.max").is_file():
                continue
            limit = (group / "memory.max").read_text().strip()
            if limit != "max":
                left.append(int(limit) - _in_use(group))
    return left


def _in_use(group: Path) -> int:
    used = int((group / "memory.current").read_text())
    statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    return used - int(statistics.get("inactive_file", 0))


def check_memory(
    parameters: int, device: torch.device, dtype: torch.dtype, *, four_bit: bool = False, all_trained: bool = True
) -> None:
    """Refuse weights that do not fit the device, or the machine's own memory, through which they come.

    Warns when they fit but training all of them (`all_trained`) would not.

    Raises:
        NoRoom: they do not.
    """
    need = weights_take(parameters, dtype, four_bit)
    places = {torch.device("cpu"), device} if not four_bit else {device}
    for place in sorted(places, key=str):
        free = free_memory(place)
        if need > free:
            raise NoRoom(
                f"The model has {parameters:,} weights, which take {_size(need)} as {_type(dtype, four_bit)}; {_size(free)} "
                f"are free on {str(place)!r}. Close other programs (other notebooks' kernels first), load it with "
                f"dtype=torch.bfloat16, or with lora=True and load_in_4bit=True, or take a smaller model."
            )
    in_training = COPIES_IN_TRAINING * need
    free = free_memory(device)
    if all_trained and in_training > free:
        warnings.warn(
            f"The model fits, but training all of its weights takes about {_size(in_training)} and {_size(free)} are "
            f"free on {str(device)!r}: give lora=True to train small adapters instead.",
            stacklevel=2,
        )


def check_disk(download: int, folder: str | Path) -> None:
    """Refuse, with NoRoom, bytes that do not fit the disk of `folder`, which need not exist yet."""
    folder = Path(folder).expanduser().absolute()
    existing = next(place for place in [folder, *folder.parents] if place.exists())
    free = shutil.disk_usage(existing).free
    if download > free:
        raise NoRoom(
            f"The model's weights are a download of {_size(download)}, and {_size(free)} are free on the disk of "
            f"{str(folder)!r}. Delete old downloads (`hf cache ls` lists them), or set HF_HOME to another disk's folder."
        )


def _size(size: int) -> str:
    return f"{size / GIGABYTE:.2f} GB"


def _type(dtype: torch.dtype, four_bit: bool) -> str:
    return "4-bit numbers" if four_bit else str(dtype).removeprefix("torch.")
