"""The size of the pieces in which a gradient is taken: a constant on the CPU, on a GPU what its free memory holds.

On the CPU a small piece is as fast as a large one. On a GPU each piece is a pass through all layers, which takes the
host as long for a hundred tokens as for ten thousand. How many bytes come with a logit depends on the model: 30 layers in
front of 50,000 words, or 4 in front of 2,000. So the first update is cut as on the CPU, and its memory is measured. The
updates that follow have pieces that fill a part of what is free.
"""

import math

import torch

LOGITS_AT_ONCE = 20_000_000  # 80 MB in float32. A 50,000-word vocabulary fills that with 400 tokens.
# Of the free memory. On an H100 a quarter made 1.9 s and 12.2 GB of a step of 256 completions at 135M parameters, and a
# sixteenth 6.9 s and 5.1 GB: each piece takes 0.2 s. An eighth lies between the two.
PART_FOR_A_PIECE = 1 / 8


def is_measured(device: torch.device) -> bool:
    """True where torch knows the memory of the device."""
    return device.type == "cuda"


class PeakMemory:
    """The memory that a block takes on a GPU beside what was in use before it, in bytes; 0 on any other device.

    with PeakMemory(device) as peak: ...
    peak.bytes

    wanted: False leaves the device's peak, which others may be measuring, as it is.
    """

    def __init__(self, device: torch.device, wanted: bool = True):
        self.device = device
        self.measures = wanted and is_measured(device)
        self.bytes = 0

    def __enter__(self) -> "PeakMemory":
        if self.measures:
            torch.cuda.reset_peak_memory_stats(self.device)
            self._before = torch.cuda.memory_allocated(self.device)
        return self

    def __exit__(self, *error) -> None:
        if self.measures:
            self.bytes = torch.cuda.max_memory_allocated(self.device) - self._before


def logits_scored_at_once(device: torch.device) -> int:
    """The most logits of a pass without gradients, of which nothing but the logits stays: 0.6 GB in half precision."""
    return LOGITS_AT_ONCE if device.type == "cpu" else 8 * LOGITS_AT_ONCE


def logits_at_once(device: torch.device, bytes_per_logit: float) -> int:
    """The most logits of a piece. `bytes_per_logit` is what an earlier update took; 0 where none was measured.

    A power of two times LOGITS_AT_ONCE, so that runs with a little more or less free memory are cut alike.
    """
    if not bytes_per_logit:
        return LOGITS_AT_ONCE
    free = torch.cuda.mem_get_info(device)[0]
    free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(
        device
    )  # torch keeps what tensors have freed
    fit = PART_FOR_A_PIECE * free / bytes_per_logit
    return math.ceil(LOGITS_AT_ONCE * 2.0 ** math.floor(math.log2(fit / LOGITS_AT_ONCE)))
