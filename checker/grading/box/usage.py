"""Watching a tree of processes from outside: how much memory and CPU it takes, how many there are.

A limit of one process does not see three children. Only Linux' /proc is read; a process that ends meanwhile is passed
over.
"""

import os
from contextlib import suppress
from dataclasses import dataclass

from checker.grading.box.limits import MEGABYTE, Limits

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """One line of /proc: who it is, how many threads, bytes in memory, seconds of CPU with those of ended children."""

    number: int
    parent: int
    threads: int
    resident: int
    cpu: float


@dataclass(frozen=True)
class Usage:
    """The threads, the bytes and the seconds of CPU that a tree of processes takes."""

    threads: int
    memory: int
    cpu: float


def exceeded(root: int, limits: Limits) -> tuple[str, Usage]:
    """A sentence on the limit that the tree below a process is over ("" for none), and what it takes."""
    members = tree(root)
    memory = sum(member.resident for member in members)
    if memory > limits.memory:  # pages that processes share were counted in each: now once
        memory = sum(map(_proportional, members))
    taken = Usage(
        sum(member.threads for member in members),
        memory,
        sum(member.cpu for member in members),
    )
    if taken.threads > limits.processes:
        return too_many(limits), taken
    if taken.memory > limits.memory:
        return too_large(limits), taken
    if taken.cpu > limits.cpu:
        return f"its processes took more than {limits.cpu:.0f} s of CPU time together", taken
    return "", taken


def too_many(limits: Limits) -> str:
    """The complaint about a box with too many processes, whoever counted them."""
    return f"it started more than {limits.processes} processes and threads"


def too_large(limits: Limits) -> str:
    """The complaint about a box with too much memory."""
    return f"its processes took more than {limits.memory / MEGABYTE:,.0f} MB of memory together"


def tree(root: int) -> list[Process]:
    """A process and all below it."""
    children: dict[int, list[Process]] = {}
    members = []
    for process in _all():
        children.setdefault(process.parent, []).append(process)
        if process.number == root:
            members.append(process)
    for member in members:  # grows while it is walked
        members.extend(children.get(member.number, ()))
    return members


def _all() -> list[Process]:
    if not os.path.isdir("/proc"):
        return []  # not Linux: a container bounds itself there
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = _read(int(name))
            if process is not None:
                found.append(process)
    return found


def _read(number: int) -> Process | None:
    """A process from /proc/<number>/stat, see proc(5). Its name may hold brackets and ends at the last bracket."""
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    parent = int(fields[1])
    cpu = sum(map(int, fields[11:15])) / TICKS  # utime, stime, and both of children that were waited for
    threads = int(fields[17])
    # One whose first thread ended is shown without memory, though others may hold some.
    resident = _in_other_threads(number) if fields[0] == b"Z" and threads > 1 else int(fields[21]) * PAGE
    return Process(number, parent, threads, resident, cpu)


def _proportional(process: Process) -> int:
    """Bytes in memory, each shared page divided by those who share it; all of them where that may not be read.

    A process that has ended since it was listed has none. One whose first thread alone has ended still has the memory
    that its other threads hold.
    """
    try:
        with open(f"/proc/{process.number}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return _in_other_threads(process.number)
    except OSError:
        pass
    return process.resident


def _in_other_threads(number: int) -> int:
    """Bytes of a process as its threads show them, which is all of it for each; 0 where none is left."""
    most = 0
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{number}/task"):
            with suppress(OSError), open(f"/proc/{number}/task/{thread}/statm", "rb") as file:
                most = max(most, int(file.read().split()[1]) * PAGE)
    return most
