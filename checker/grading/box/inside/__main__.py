"""The program inside a box. It takes a job from stdin, bounds itself, does the job, and says what came of it, a JSON
line a time.

The lines leave through a copy of stdout that no program inherits and that a child of `children.py` closes. The process
cannot be looked into by what it runs. So neither a notebook's kernel nor a student's function has a way to them.
"""

import ctypes
import importlib
import json
import os
import resource
import struct
import sys
import time
import traceback
from collections.abc import Callable

from checker.grading.box.inside import FINISHED
from checker.grading.box.inside.sending import sender
from checker.grading.box.inside.users import become

JOBS = {"probe": "probe", "notebook": "notebook", "answers": "answers", "challenge": "challenge"}
SET_DUMPABLE, SET_SECCOMP, FILTERED = 4, 22, 2  # prctl(2)
IN_CHILDREN = ("answers",)  # these have a child become the box's user, so that it has no power over its parent
STEP = 8  # bytes of a step of the filter
LAST_WORDS = 4_000  # characters of a traceback


def main() -> None:
    begun = time.monotonic()
    with os.fdopen(0, "rb", closefd=False) as given:
        job = json.loads(given.read()) | {"begun": begun}
    send = take_over_stdout()
    try:
        _bound(job["limits"], job["counted"])
        if job["do"] not in IN_CHILDREN:
            become(job["uid"])
        _refuse(bytes.fromhex(job["filter"]))
        importlib.import_module(f"checker.grading.box.inside.{JOBS[job['do']]}").run(job, send)
        send({FINISHED: True})
    except Exception:  # a fault of the box or of this program; what a submission does wrong is part of a job's result
        send({"failed": traceback.format_exc()[-LAST_WORDS:]})
    os._exit(0)  # all is said; the usual end of an interpreter that has imported torch takes a second


def take_over_stdout() -> Callable[[dict], None]:
    """A function that sends a record; what anything else prints goes nowhere from now on."""
    results = os.dup(1)  # not inherited by a program that is started
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    return sender(results)


def _bound(limits: dict, counted: bool) -> None:
    """Set the limits that the system keeps."""
    if counted:
        resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
    seconds = int(limits["cpu"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits["folder"], limits["folder"]))
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits["files"], limits["files"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DUMPABLE, 0)


def _refuse(program: bytes) -> None:
    """Take a filter of system calls, for good, where the box does not bring it; see `seccomp.py` and seccomp(2).

    Raises:
        OSError: the kernel refuses the filter.
    """
    if not program:
        return
    steps = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HP", len(program) // STEP, ctypes.addressof(steps))  # struct sock_fprog
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SET_SECCOMP, FILTERED, described) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls")


if __name__ == "__main__":
    main()
