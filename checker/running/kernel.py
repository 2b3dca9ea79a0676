"""A fresh kernel for one notebook. Starting it imports little, so that it starts before all else is imported."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync

# Run by the kernel before the first cell: with ipywidgets installed, tqdm.auto would draw bars that a terminal cannot
# show. An assignment to an attribute, so that no name is left behind that a notebook forgot to import.
TEXT_BARS = "__import__('tqdm.auto').auto.tqdm = __import__('tqdm').tqdm"
ARGUMENTS = [
    "--HistoryManager.hist_file=:memory:",
    "--IPKernelApp.log_level=50",
    f"--IPKernelApp.exec_lines={TEXT_BARS}",
]
# Of the kernel's process: threads that rest, no tokenizer forks, plain progress bars, no chatter. What is set already
# stays.
ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",  # spinning threads make each other many times slower when a core is busy
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "PYTHONWARNINGS": "ignore",
}


@contextmanager
def fresh_kernel(folder: Path) -> Iterator[AsyncKernelManager]:
    """A kernel that has begun to start in `folder`, with the project on its path; ended when the block is left."""
    kernel = AsyncKernelManager(kernel_name="python3")
    run_sync(kernel.start_kernel)(cwd=str(folder), env=_environment(), extra_arguments=ARGUMENTS)
    try:
        yield kernel
    finally:
        if kernel.has_kernel:
            run_sync(kernel.shutdown_kernel)(now=True)


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    return ENVIRONMENT | os.environ | {"PYTHONPATH": path}
