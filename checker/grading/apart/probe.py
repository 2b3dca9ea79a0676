"""A look around from inside a box, by which the grader tells that its walls stand."""

import os
import resource
import socket
import threading
from collections.abc import Callable
from pathlib import Path


def run(job: dict, send: Callable[[dict], None]) -> None:
    """Say what can be seen and done here.

    job: "secret", the name of a variable of the grader's environment; "limits"; "hoard" and "crowd", whether the system
        is to keep those of memory and of processes, so that they can be tried.
    """
    limits = job["limits"]
    send(
        {
            "environment": _mentions(job["secret"]),
            "network": _interfaces() != ["lo"],
            "writes": _can_write("/course/probe") or _can_write("/usr/probe"),
            "neighbours": sum(name.isdigit() for name in os.listdir("/proc")) > 20,
            "folder": _can_write(os.path.join(os.environ["TMPDIR"], "probe")),
            "loopback": _talks_to_itself(),
            "hoard": job["hoard"] and _can_fill(2 * limits["memory"]),
            "company": _can_start(limits["processes"] // 4),
            # Last: it leaves room for nothing else.
            "crowd": job["crowd"] and _can_start(_too_many(limits["processes"], job["counted"])),
        }
    )


def _mentions(name: str) -> bool:
    """Whether any process that may be looked at carries the variable."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if name.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return name in os.environ


def _interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex()]


def _can_write(path: str) -> bool:
    try:
        with open(path, "w") as file:
            file.write("x")
    except OSError:
        return False
    os.unlink(path)
    return True


def _talks_to_itself() -> bool:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            with socket.create_connection(server.getsockname(), timeout=2):
                return True
    except OSError:
        return False


def _too_many(processes: int, counted: bool) -> int:
    """How many threads must not start beside this one.

    Where the system counts the box, half of what it may have, after that was made the limit: with all of them the box
    would be ended by who watches it from outside.
    """
    if not counted:
        return processes
    half = processes // 2
    resource.setrlimit(resource.RLIMIT_NPROC, (half, half))
    return half


def _can_start(number: int) -> bool:
    """Whether so many threads can run beside this one; the kernel counts them as it counts processes."""
    over = threading.Event()
    try:
        for _ in range(number):
            threading.Thread(target=over.wait, daemon=True).start()
    except RuntimeError:
        return False
    finally:
        over.set()
    return True


def _can_fill(size: int) -> bool:
    """Whether a child, which may be killed for it, can fill so many bytes."""
    child = os.fork()
    if child == 0:
        try:
            filled = b"x" * size
            os._exit(len(filled) != size)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return status == 0
