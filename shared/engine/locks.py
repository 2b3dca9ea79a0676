"""A lock of the operating system, which dies with its process however that ends (optional reading).

The file it is taken on locks nothing by being there, and stays. The `filelock` package is not used: where a file
system knows no locks it falls back to files whose existence is the lock, and a killed process would leave one.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path

if os.name == "posix":
    import fcntl
else:
    import msvcrt

# Where Windows locks its one byte: far behind the text of the file, which others may then still read.
FAR = 1 << 20
# Descriptors of the locks that this process has.
_held: set[int] = set()


def lock(path: Path) -> int:
    """Take the lock on the file `path`, made when it is not there; the descriptor that `unlock` needs.

    It cannot be taken twice, not by the same process either, and a forked child does not have it.

    Raises:
        BlockingIOError: somebody has it; the message says which process on which machine.
        OSError: the file cannot be written there, or its file system knows no locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _take(descriptor)
    except BlockingIOError as error:
        holder = os.read(descriptor, 200).decode(errors="replace").strip()
        os.close(descriptor)
        raise BlockingIOError(holder or "another process") from error
    except OSError:
        os.close(descriptor)
        raise
    _held.add(descriptor)
    with suppress(OSError):  # on a full disk the lock is as good without its text
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    return descriptor


def unlock(descriptor: int) -> None:
    """Give the lock back; in a forked child, which does not have it, nothing happens."""
    if descriptor in _held:
        _held.remove(descriptor)
        os.close(descriptor)


def _take(descriptor: int) -> None:
    """Lock or raise BlockingIOError at once."""
    if os.name == "posix":
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    os.lseek(descriptor, FAR, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        raise BlockingIOError(str(error)) from error
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)


def _let_go_in_a_child() -> None:
    """A forked child shares its parent's descriptors, and a lock lives until the last of them is closed."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_a_child)
