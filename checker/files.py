"""Writing files so that nothing is ever half there."""

import os
import tempfile
from pathlib import Path


def write_beside(path: Path, text: str) -> None:
    """Write a file whole or not at all: beside it first, then renamed. Raises OSError that names the file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(beside, 0o644)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
