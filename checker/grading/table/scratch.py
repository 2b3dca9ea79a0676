"""Temporary files of a run, people's work among them: they lie in the class's folder, so that none outlives it.

A run that ends, or is stopped, takes its own along. What one that was killed left goes with the next, and with
`checker forget`.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "scratch"


@contextmanager
def scratch_in(folder: Path) -> Iterator[None]:
    """Have this process and those that it starts put their temporary files below a class's folder."""
    place = folder.absolute() / NAME
    place.mkdir(exist_ok=True)
    _sweep(place)
    before = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory(prefix=f"{os.getpid()}-", dir=place, ignore_cleanup_errors=True) as own:
        _put_into(own)
        try:
            yield
        finally:
            _put_into(before)


def _put_into(folder: str | None) -> None:
    """Say where temporary files are to lie; None for where the system puts them."""
    os.environ.pop("TMPDIR", None)
    if folder is not None:
        os.environ["TMPDIR"] = folder
    tempfile.tempdir = None  # which is found anew when it is asked for


def _sweep(place: Path) -> None:
    """Remove what runs left whose process is gone."""
    for left in place.iterdir():
        if not _running(int(left.name.partition("-")[0])):
            shutil.rmtree(left, ignore_errors=True)


def _running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
