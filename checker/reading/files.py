"""Writing files so that nothing is ever half there, and nothing is replaced that is not a file."""

import errno
import os
import stat
import uuid
from pathlib import Path


def write_beside(path: Path, text: str) -> None:
    """Write a file whole or not at all: beside it first, then renamed.

    A link is followed and stays. Into a pipe or a device the text is written; it is never replaced by a file. A new
    file gets the permissions that the umask leaves, one that was there keeps its own.

    Raises:
        OSError: it cannot be written; it names the file.
    """
    try:
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            return
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, text, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _mode(path: Path) -> int | None:
    """The type and permissions of what is at a path; None where there is nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(path: Path, text: str, mode: int | None) -> None:
    beside = path.parent / f".{uuid.uuid4().hex}.partial"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less what the umask takes away
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
