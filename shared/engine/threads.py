"""The number of CPU threads that a model computes on.

The products of a small model are done before a second thread has woken up: a GRPO step of the embedded model takes
0.50 s on one thread and 0.55 s on two, where 135 million parameters take 7.3 and 6.5 (benchmarks/processes.md). On one
thread results also repeat on every machine, however many cores it has.
"""

import os

import torch

SMALL = 20_000_000  # parameters; between the 1.6 million that gain nothing and the 135 million that do
USUAL = torch.get_num_threads()  # what PyTorch takes by itself


def choose_threads(parameters: int) -> None:
    """One thread for a small model, PyTorch's number for another; where OMP_NUM_THREADS is set, that is left alone."""
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1 if parameters < SMALL else USUAL)
