"""A process apart from the grader, in which what people handed in is read, as far as no box runs it.

`apart(parse, path)` is `parse(path)`, done in that process within limits of time and, where the system has them, of
memory. A file that is made to hang or to fill the grader ends the process, which says something about that file alone:
the next call starts another process. Each thread has one of its own, and keeps it from call to call.

In the process runs the course's own code, never a student's, so requests and answers are pickled.
"""

import faulthandler
import pickle
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from checker.reading.notebook import Unreadable
from checker.setup.environment import ROOT

MODULE = "checker.grading.collect.apart"
SECONDS = 60  # for one call; a worked notebook takes about one
MEGABYTES = 2_000  # of memory
TOO_MUCH = f"Reading it takes more than {SECONDS} s or {MEGABYTES:,} MB of memory. Look at it by hand."


class TooMuch(Unreadable):
    """The process ended over a call: to read this takes more time or memory than it may."""


def apart(function: Callable, *arguments):
    """The value of a module's function for these arguments, found in this thread's process.

    Raises:
        TooMuch: the process ended, or had no memory left.
        Exception: whatever the function raises.
    """
    if getattr(_of_this_thread, "reader", None) is None or _of_this_thread.reader.ended:
        _of_this_thread.reader = _Reader()
    return _of_this_thread.reader.call(function, arguments)


_of_this_thread = threading.local()


class _Reader:
    """A process that answers calls. It ends with the thread whose it is, and with the grader."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(SECONDS), str(MEGABYTES)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.end = weakref.finalize(self, _end, self.process)

    @property
    def ended(self) -> bool:
        return not self.end.alive or self.process.poll() is not None

    def call(self, function: Callable, arguments: tuple):
        try:
            pickle.dump((function, arguments), self.process.stdin)
            self.process.stdin.flush()
            value, error = pickle.load(self.process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            raise TooMuch(TOO_MUCH) from None
        except BaseException:  # half a request or half an answer is in the pipe
            self.end()
            raise
        if isinstance(error, MemoryError):
            raise TooMuch(TOO_MUCH)
        if error is not None:
            raise error
        return value


def _end(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()


def serve(requests: IO[bytes], answers: IO[bytes], seconds: float) -> None:
    """Answer calls until there are no more. One that takes longer than it may ends this process."""
    while True:
        try:
            function, arguments = pickle.load(requests)
        except EOFError:
            return
        faulthandler.dump_traceback_later(seconds, exit=True)
        answers.write(_answer(function, arguments))
        faulthandler.cancel_dump_traceback_later()
        answers.flush()


def _answer(function: Callable, arguments: tuple) -> bytes:
    """A function's value, or its error, pickled."""
    try:
        return pickle.dumps((function(*arguments), None))
    except Exception as error:
        try:
            pickled = pickle.dumps((None, error))
            pickle.loads(pickled)
            return pickled
        except Exception:  # an error that does not travel is told by its words
            return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))


def bound_memory(megabytes: int) -> None:
    """Bound the memory of this process, where the system knows such a limit."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 1_000_000, most))


if __name__ == "__main__":
    sys.modules.setdefault("rfc3987_syntax", None)  # as `checker.__main__` does: it takes a second
    bound_memory(int(sys.argv[2]))
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # a line that somebody prints is no answer
    serve(sys.stdin.buffer, out, float(sys.argv[1]))
