"""Files that are whole or as they were (optional reading)."""

import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written_beside(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when the block ends well; otherwise `path` stays as it was.

    The bytes reach the disk before the new name does, so that not even a power cut leaves a file of the right name
    with half its content.
    """
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
        _flush_folder(path.parent)
    finally:
        beside.unlink(missing_ok=True)


def refuse_unwritable(path: Path) -> None:
    """OSError, in a sentence, where no file can be written at `path`; the folders above it are made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(
            f"{path} cannot be written ({error.strerror}). Choose a path in a folder that you can write."
        ) from error


def remove_leftovers(path: Path) -> None:
    """Remove what killed writers of `path` left beside it. Only for one who knows that nobody is writing it now."""
    leftover = re.compile(re.escape(path.name) + r"\.[0-9a-f]{16}\.partial")
    for file in path.parent.iterdir():
        if leftover.fullmatch(file.name):
            file.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Bring a new name in `folder` to the disk."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot; the content is on the disk by then
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
