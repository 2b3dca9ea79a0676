"""A look around from inside a box, by which the grader tells that its walls stand."""

import os
import socket
from collections.abc import Callable
from pathlib import Path


def run(job: dict, send: Callable[[dict], None]) -> None:
    """Say what can be seen and done here; `job["secret"]` is the name of a variable of the grader's environment."""
    send(
        {
            "environment": _mentions(job["secret"]),
            "network": _interfaces() != ["lo"],
            "writes": _can_write("/course/probe") or _can_write("/usr/probe"),
            "neighbours": sum(name.isdigit() for name in os.listdir("/proc")) > 20,
            "folder": _can_write(os.path.join(os.environ["TMPDIR"], "probe")),
            "loopback": _talks_to_itself(),
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
