"""A child of the box's program that runs a stranger's work, and the pipe on which it answers.

The child holds no descriptor but its own pipe, so it cannot write where its parent does. The parent reads complete
lines of a bounded length, for a bounded time, and decides what becomes of them.

The child can do nothing to its parent where the box has a user of its own for it, or where the parent is the first
process of the box, which no process below it can kill.
"""

import json
import os
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from checker.grading.box.inside.sending import sender
from checker.grading.box.inside.users import become

DONE = {"done": True}
CHUNK = 1 << 16
LONGEST_LINE = 4_000_000  # bytes; the longest right answer of an exercise has a third of it
BETWEEN_LOOKS = 0.002  # seconds, for killed processes to be gone
MEGABYTE = 1_000_000

Send = Callable[[dict], None]


@dataclass(frozen=True)
class Bounds:
    """The limits of a child.

    seconds: after which it is ended.       most: bytes that are read of it.
    uid: the user that it becomes, where it is not None.
    walled: whether there is nothing in this box but what the child started, this process and the first one.
    """

    seconds: float
    most: int
    uid: int | None = None
    walled: bool = False


def in_a_child(work: Callable[[Send], None], receive: Send, bounds: Bounds) -> str:
    """Do the work in a child and pass on what it sends; why it did not come to its end, "" when it did.

    Args:
        work: is given a function that sends a record.
        receive: is given each record that was sent, whatever is in it.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, writing, bounds.uid)
    os.close(writing)
    try:
        return _received(reading, receive, bounds)
    finally:
        os.close(reading)
        _end(child, bounds.walled)


def _work(work: Callable[[Send], None], writing: int, uid: int | None) -> None:
    """Do the work in this process, and end it."""
    try:
        become(uid)
        os.setpgid(0, 0)
        os.closerange(3, writing)
        os.closerange(writing + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        send = sender(writing)
        work(send)
        send(DONE)
    finally:
        os._exit(0)


def _received(reading: int, receive: Send, bounds: Bounds) -> str:
    deadline = time.monotonic() + bounds.seconds
    unfinished = b""
    count = 0
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([reading], [], [], left)
        if not ready:
            break
        piece = os.read(reading, CHUNK)
        if not piece:
            return "it ended the process it ran in"
        count += len(piece)
        *lines, unfinished = (unfinished + piece).split(b"\n")
        if count > bounds.most:
            return f"it sent more than {bounds.most / MEGABYTE:,.0f} MB of outputs"
        if len(unfinished) > LONGEST_LINE:
            return f"one of its outputs has more than {LONGEST_LINE / MEGABYTE:,.0f} MB"
        for record in map(_record, lines):
            if record == DONE:
                return ""
            if record is not None:
                receive(record)
    return f"it took more than {bounds.seconds:.0f} s"


def _record(line: bytes) -> dict | None:
    """The JSON object in a line; None where there is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _end(child: int, walled: bool) -> None:
    """End the child and what it started; in a box of its own that is every process that is left, whatever its group."""
    for target in (child, -child):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signal.SIGKILL)
    os.waitpid(child, 0)
    while walled and _others_killed():
        time.sleep(BETWEEN_LOOKS)


def _others_killed() -> bool:
    """Kill all other processes of this box, but its first one; whether there were any."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:  # what was left to this process, where it is the first
            pass
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
