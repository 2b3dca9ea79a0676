"""Helpers of the tests of checkpoints: a state with everything that one may hold, and children to be killed."""

import os
import traceback
from collections.abc import Callable

import pytest
import torch

posix = pytest.mark.skipif(os.name != "posix", reason="kill -9 and fork are POSIX")
STATE = {
    "model": {"w": torch.arange(6.0).view(2, 3), "b": torch.tensor([0.1, -0.0, float("inf")], dtype=torch.bfloat16)},
    "optimizer": {"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999)}]},
    "history": [{"step": 1, "reward": 0.25}, {"step": 2, "reward": float("inf")}],
    "name": None,
}


def forked(act: Callable[[], None]) -> int:
    """Run `act` in a forked child that does nothing else; the child's process id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        act()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """Wait for a child: 0 when it went well, -9 when it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
