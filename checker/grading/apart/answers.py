"""Runs a student's functions on cases, inside a box, and sends what each of them came to, as values.

Each function runs in a child of its own, so that one that never ends, or ends the process, costs itself alone. Nothing
here knows what is right: the values are compared outside.
"""

import base64
import importlib
import os
import pickle
import select
import signal
import time
import types
from collections.abc import Callable

from checker.grading.apart import BEGUN, exchange

STUDENT = "notebook"  # the name of the module in which the functions live, and of its file in tracebacks


def run(job: dict, send: Callable[[dict], None]) -> None:
    """Send {"key", "case", "outcome"} for each call, and {"key", "ended"} for what did not come to its end.

    job: "cases", pickled by the grader and base64; "functions", each with its key, source, name, seconds
        and the name of its cases;
        "imports", modules that take long to import, imported once for all.
    """
    for name in job["imports"]:
        importlib.import_module(name)
    cases = pickle.loads(base64.b64decode(job["cases"]))
    send({BEGUN: True})
    for function in job["functions"]:
        ended = _in_a_child(lambda function=function: _answer(function, cases[function["cases"]], send), function)
        if ended:
            send({"key": function["key"], "ended": ended})


def _answer(function: dict, asked: dict, send: Callable[[dict], None]) -> None:
    """Define the function and call it on every case."""
    module = types.ModuleType(STUDENT)
    try:
        exec(compile(function["source"], f"<{STUDENT}>", "exec"), module.__dict__)
        called = module.__dict__[function["name"]]
    except BaseException as error:
        send({"key": function["key"], "ended": f"it cannot be defined: {type(error).__name__}: {str(error)[:300]}"})
        return
    for number, case in enumerate(asked["cases"]):
        outcome = exchange.outcome_of(called, case, asked)
        send({"key": function["key"], "case": number, "outcome": outcome})


def _in_a_child(work: Callable[[], None], function: dict) -> str:
    """Do the work in a child within the function's seconds; why it did not come to its end, "" when it did."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setpgid(0, 0)
        try:
            work()
            os.write(writing, b"1")
        finally:
            os._exit(0)
    os.close(writing)
    finished = _read_by(reading, time.monotonic() + function["seconds"])
    os.close(reading)
    for target in (child, -child):  # its group too: what it started ends with it
        try:
            os.kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)
    if finished is None:
        return f"it took more than {function['seconds']:.0f} s"
    return "" if finished else "it ended the process it ran in"


def _read_by(reading: int, deadline: float) -> bytes | None:
    """What comes through a pipe, b"" when it is closed without a word, None when the deadline passes."""
    ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
    return os.read(reading, 1) if ready else None
