"""The best timer there is inside of a process: it interrupts Python code, again and again, until the block ends."""

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from shared.exercises.calling import Unfinished

AGAIN = 0.05  # seconds after which a function that swallowed the interruption gets the next one


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """A block that is interrupted when its time is up, with TimeoutError."""
    can_alarm = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    timer = _alarm(seconds) if can_alarm else _watcher(seconds)
    try:
        with timer:
            yield
    except Unfinished as error:
        raise TimeoutError from error


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Unix, main thread: a signal, which also ends a sleep."""

    def stop(*_):
        raise Unfinished

    def told(lost) -> None:
        if lost.exc_type is not Unfinished:
            hook(lost)

    hook = sys.unraisablehook
    sys.unraisablehook = told  # one that hits where memory is freed is lost, and the next one comes
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook


@contextmanager
def _watcher(seconds: float) -> Iterator[None]:
    """Anywhere else: another thread asks the interpreter to raise in this one before its next line."""
    thread = ctypes.c_ulong(threading.get_ident())
    done = threading.Event()

    def watch() -> None:
        wait = seconds
        while not done.wait(wait):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(Unfinished))
            wait = AGAIN

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        # What was asked for last may be raised in any of these lines, the last time in the loop. To take it back would
        # leave Python 3.11 believing in it: under a debugger its next function would never begin.
        ended = False
        while not ended:
            try:
                done.set()
                watcher.join()
                for _ in range(2):
                    pass
                ended = True
            except Unfinished:
                pass
