"""Files: written so that nothing is ever half there and nothing else is replaced, and names that are one on some disks."""

import errno
import os
import stat
import tempfile
import unicodedata
import uuid
from pathlib import Path


def write_beside(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all: beside it first, then renamed. A text is written in UTF-8.

    A link is followed and stays. Into a pipe or a device the content is written; it is never replaced by a file. A new
    file gets the permissions that the umask leaves, one that was there keeps its own.

    Raises:
        OSError: it cannot be written; it names the file.
    """
    written = content.encode("utf-8") if isinstance(content, str) else content
    try:
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as stream:
                stream.write(written)
            return
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, written, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def refuse_unwritable(folder: Path) -> None:
    """OSError, which names the folder, where no file can be written into it, or it cannot be made. It is not made."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from error


def folded(path: Path) -> str:
    """A path as macOS and Windows compare it: capitals and the ways to write an accent make no difference."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _mode(path: Path) -> int | None:
    """The type and permissions of what is at a path; None where there is nothing."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes, mode: int | None) -> None:
    beside = path.parent / f".{uuid.uuid4().hex}.partial"
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less what the umask takes away
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        if mode is not None:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
