"""Processes for tests, forked so that nothing is imported again: several that know each other, and one with a pipe."""

import multiprocessing
import os
import pickle
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import psutil
import torch
from accelerate import PartialState

from shared.engine.processes import Processes

PATIENCE = 120  # seconds, for a machine that is busy
STILL = 8  # seconds in which none of them answers or computes: each waits for another, and none will ever end


def in_processes(count: int, function: Callable[[Processes], object]) -> list:
    """The values that `function(processes)` returns in each of `count` processes, in their order.

    Raises AssertionError with the traceback of a process that failed.
    """
    port = _free_port()
    received = {}
    children = [forked(_child, function, rank, count, port) for rank in range(count)]
    try:
        received = _received({ours: child.pid for child, ours in children})
    finally:
        for child, _ in children:
            child.join(5 if len(received) == count else 0)
            child.kill()
    answers = [received.get(ours, "it did not end") for _, ours in children]
    wrong = [answer for answer in answers if isinstance(answer, str)]
    assert not wrong, "\n".join(wrong)
    return [answer[0] for answer in answers]


def _received(waiting: dict[Connection, int]) -> dict[Connection, object]:
    """The answers of these processes, each a pipe and its number, of those that come to one."""
    received = {}
    ends = time.monotonic() + PATIENCE
    while len(received) < len(waiting) and time.monotonic() < ends:
        left = waiting.keys() - received.keys()
        before = _computed(waiting[pipe] for pipe in left)
        ready = wait(left, STILL)
        received |= {pipe: pickle.loads(pipe.recv_bytes()) for pipe in ready}
        if not ready and _computed(waiting[pipe] for pipe in left) - before < 0.1:
            break
    return received


def _computed(processes: Iterable[int]) -> float:
    """The seconds that these processes have computed together."""
    return sum(sum(psutil.Process(process).cpu_times()[:2]) for process in processes)


def forked(target: Callable, *arguments: object) -> tuple[BaseProcess, Connection]:
    """A process that is begun, and our end of a pipe. `target` gets the other end as its last argument."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=target, args=(*arguments, theirs), daemon=True)
    child.start()
    theirs.close()
    return child, ours


def _child(function: Callable[[Processes], object], rank: int, count: int, port: int, pipe: Connection) -> None:
    address = {"RANK": rank, "WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ |= {name: str(value) for name, value in address.items()} | {"COURSE_DEVICE": "cpu"}
    os.environ |= {"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(count)}
    torch.set_num_threads(1)
    try:
        PartialState._reset_state()  # a test before this one may have made one of a single process
        # By pickle itself: a pipe would pass tensors on as memory that ends with this process.
        pipe.send_bytes(pickle.dumps((function(Processes.here()),)))
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    except BaseException:
        pipe.send_bytes(pickle.dumps(traceback.format_exc()))
    finally:
        sys.stdout.flush()
        os._exit(0)  # pytest's own ends are the parent's


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
