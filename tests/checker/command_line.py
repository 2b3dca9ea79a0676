"""The checker's command line, called in this process: what it prints, and the status it exits with.

A process of its own takes half a second, nearly all of it for imports: for tests of the start itself, and of what
Python writes to the real streams.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from checker.__main__ import main

PROJECT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Done:
    """The result of one call, with the fields that `subprocess.run` gives."""

    returncode: int
    stdout: str
    stderr: str


def checker(*arguments, cwd=None) -> Done:
    """Call `checker ARGUMENTS`. What is raised, which would be a traceback to the caller, is raised here too."""
    stdout = io.StringIO()
    stderr = io.StringIO()
    with contextlib.ExitStack() as around:
        around.enter_context(mock.patch.object(sys, "argv", ["checker", *map(str, arguments)]))
        around.enter_context(contextlib.chdir(cwd or os.getcwd()))
        around.enter_context(contextlib.redirect_stdout(stdout))
        around.enter_context(contextlib.redirect_stderr(stderr))
        status = _status_of(main)
    return Done(status, stdout.getvalue(), stderr.getvalue())


def _status_of(program: Callable[[], None]) -> int:
    try:
        program()
    except SystemExit as ended:
        return ended.code or 0
    return 0


def process(*arguments) -> subprocess.CompletedProcess:
    """Python with these arguments in a process of its own, started in the project."""
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=PROJECT)
