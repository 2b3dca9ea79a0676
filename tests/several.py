"""A function in several processes that know each other, for tests: forked, so that nothing is imported again."""

import multiprocessing
import os
import pickle
import socket
import sys
import traceback
from collections.abc import Callable

import torch
from accelerate import PartialState

from shared.engine.processes import Processes

PATIENCE = 120  # seconds, for a machine that is busy


def in_processes(count: int, function: Callable[[Processes], object]) -> list:
    """The values that `function(processes)` returns in each of `count` processes, in their order.

    Raises AssertionError with the traceback of a process that failed.
    """
    context = multiprocessing.get_context("fork")
    port = _free_port()
    children = []
    for rank in range(count):
        ours, theirs = context.Pipe()
        child = context.Process(target=_child, args=(function, rank, count, port, theirs), daemon=True)
        child.start()
        theirs.close()
        children.append((child, ours))
    try:
        answers = [pickle.loads(ours.recv_bytes()) if ours.poll(PATIENCE) else "it did not end" for _, ours in children]
    finally:
        for child, _ in children:
            child.join(5)
            child.kill()
    wrong = [answer for answer in answers if isinstance(answer, str)]
    assert not wrong, "\n".join(wrong)
    return [answer[0] for answer in answers]


def _child(function: Callable[[Processes], object], rank: int, count: int, port: int, pipe) -> None:
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
