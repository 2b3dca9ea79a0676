"""A test of a box from inside: what can be seen, written and started there.

`checker/grading/box/selection.py` runs this job in a new box before any submission runs in one. It refuses the kind of
isolation unless every answer is that of a sound box:

    answer                     what is tried                                              a sound box
    sees_grader_variable       look for a variable of the grader in every environment     False
    has_network                list the network interfaces                                False: `lo` alone
    writes_project_or_system   write a file in /course, then in /usr                      False
    sees_other_processes       count the processes in /proc                               False
    writes_private_folder      write a file in $TMPDIR                                    True
    has_loopback               connect to a server of its own at 127.0.0.1                True
    exceeds_memory_limit       let a child fill twice the memory limit                    False
    starts_allowed_threads     start a quarter of the allowed threads                     True
    exceeds_process_limit      start as many threads as are allowed, beside this one      False

A notebook's kernel needs the three that are True. The two answers that begin with "exceeds" are tried on request, and
are False where they are not: a limit that is kept from outside, by watching the box or by a cgroup, is not tried here.
"""

import os
import resource
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

# In a new box /proc shows this process and perhaps the program that built the box. A machine shows all its services.
MOST_PROCESSES_IN_NEW_BOX = 20

# Twice the limit is far enough above it that rounding and memory shared with the parent make no difference.
MEMORY_EXCESS = 2

# Threads of the first trial may still be ending during the second. A quarter and a half together stay below the whole.
ALLOWED_THREADS_DIVISOR = 4
LOWERED_LIMIT_DIVISOR = 2

CONNECTION_TIMEOUT = 2  # seconds

# Exit statuses of the child that fills memory.
FILLED = 0
NOT_FILLED = 1


def run(job: dict, send: Callable[[dict], None]) -> None:
    """Send one record: each answer of the table above, True or False.

    Args:
        job: a dict with
            "secret": the name of a variable in the grader's environment, such as "CHECKER_GRADE_PROBE";
            "limits": the box's limits; of these "memory" (bytes) and "processes" (processes and threads) are read;
            "try_memory_limit": True to try `exceeds_memory_limit`;
            "try_process_limit": True to try `exceeds_process_limit`;
            "counted": True if the system counts this box's processes by RLIMIT_NPROC, apart from all others.
        send: is called once, with the record.
    """
    limits = job["limits"]
    processes = limits["processes"]
    send(
        {
            "sees_grader_variable": _sees_variable(job["secret"]),
            "has_network": _has_network(),
            "writes_project_or_system": _can_write("/course/probe") or _can_write("/usr/probe"),
            "sees_other_processes": _visible_processes() > MOST_PROCESSES_IN_NEW_BOX,
            "writes_private_folder": _can_write(os.path.join(os.environ["TMPDIR"], "probe")),
            "has_loopback": _has_loopback(),
            "exceeds_memory_limit": job["try_memory_limit"] and _can_fill(MEMORY_EXCESS * limits["memory"]),
            "starts_allowed_threads": _can_start(processes // ALLOWED_THREADS_DIVISOR),
            # The last trial: the limit that it lowers stays lowered.
            "exceeds_process_limit": job["try_process_limit"] and _exceeds_process_limit(processes, job["counted"]),
        }
    )


def _sees_variable(name: str) -> bool:
    """True if the variable stands in this process's environment, or in that of another one that can be read."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if name.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return name in os.environ


def _has_network() -> bool:
    """True unless the loopback `lo` is the one network interface."""
    interfaces = [name for _, name in socket.if_nameindex()]
    return interfaces != ["lo"]


def _visible_processes() -> int:
    """The number of processes that /proc shows."""
    return sum(name.isdigit() for name in os.listdir("/proc"))


def _can_write(path: str) -> bool:
    """True if a file can be written at the path. It is removed again."""
    try:
        with open(path, "w") as file:
            file.write("x")
    except OSError:
        return False
    os.unlink(path)
    return True


def _has_loopback() -> bool:
    """True if this process can connect to a server of its own."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            with socket.create_connection(server.getsockname(), timeout=CONNECTION_TIMEOUT):
                return True
    except OSError:
        return False


def _can_fill(size: int) -> bool:
    """True if a child can fill `size` bytes. The system may kill the child for trying."""
    child = os.fork()
    if child == 0:
        _fill_and_exit(size)
    _, wait_status = os.waitpid(child, 0)
    return wait_status == FILLED


def _fill_and_exit(size: int) -> NoReturn:
    """Fill `size` bytes, and end this process with FILLED; with NOT_FILLED if that failed."""
    exit_status = NOT_FILLED
    try:
        content = b"x" * size
        if len(content) == size:
            exit_status = FILLED
    finally:
        os._exit(exit_status)


def _can_start(number: int) -> bool:
    """True if `number` threads can run at once beside this one. The kernel counts threads as it counts processes."""
    all_may_end = threading.Event()
    try:
        for _ in range(number):
            threading.Thread(target=all_may_end.wait, daemon=True).start()
    except RuntimeError:
        return False
    finally:
        all_may_end.set()
    return True


def _exceeds_process_limit(processes: int, counted: bool) -> bool:
    """True if as many threads as the limit allows can start beside this one, which makes one too many.

    Where the system counts, the limit is halved first, for the rest of this process's life. With the whole number of
    threads the grader's watcher outside (`usage.exceeded`) would see a box over its limit, and end it.
    """
    limit = processes
    if counted:
        limit = processes // LOWERED_LIMIT_DIVISOR
        _set_process_limit(limit)
    return _can_start(limit)


def _set_process_limit(limit: int) -> None:
    """Let the kernel refuse this process a thread when there are `limit` already. Only root can raise it again."""
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
