"""The state that a function may leave changed for everybody: random state, gradients, default dtype, standard output."""

import io
import os
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

MOST_OUTPUT = 10_000  # characters of what a function prints that are kept


class Sink(io.TextIOBase):
    """Takes everything that is printed and keeps the first MOST_OUTPUT characters."""

    def __init__(self):
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text[: MOST_OUTPUT - len(self.text)]
        return len(text)

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:
        return "utf-8"


@contextmanager
def everything_restored() -> Iterator[None]:
    """A block after which chance, settings and folders are as before, and in which nothing is printed."""
    chance = random.getstate(), np.random.get_state(), torch.get_rng_state()
    accelerators = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    settings = settings_now()
    limit = sys.getrecursionlimit()
    errors = np.geterr()
    folder = os.getcwd()
    environment = dict(os.environ)
    streams = sys.stdout, sys.stderr, sys.stdin
    sys.stdout = sys.stderr = Sink()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout, sys.stderr, sys.stdin = streams
        random.setstate(chance[0])
        np.random.set_state(chance[1])
        torch.set_rng_state(chance[2])
        if accelerators is not None:
            torch.cuda.set_rng_state_all(accelerators)
        restore(settings)
        sys.setrecursionlimit(limit)
        np.seterr(**errors)
        os.chdir(folder)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)


# Settings of torch that a right function never changes, each with the functions that read and that set it.
SETTINGS = {
    "recording of gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
    "default dtype": (torch.get_default_dtype, torch.set_default_dtype),
    "number of threads": (torch.get_num_threads, torch.set_num_threads),
    "use of deterministic algorithms": (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    "detection of anomalies": (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
}


def settings_now() -> dict:
    return {name: ask() for name, (ask, _) in SETTINGS.items()}


def restore(settings: dict) -> None:
    for name in changed_settings(settings):
        SETTINGS[name][1](settings[name])


def changed_settings(before: dict) -> list[str]:
    return [name for name, (ask, _) in SETTINGS.items() if ask() != before[name]]
