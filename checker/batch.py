"""Many notebooks at once: the files that paths stand for, and their reports, worked out on all cores."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from checker.archive import unpack
from checker.check import Report, check, unreadable
from checker.notebook import Unreadable

FEW = 24  # notebooks for which starting further processes takes longer than checking


@dataclass(frozen=True)
class Entry:
    """A file to be looked at.

    name: how it is called in what is printed.    inside: where it lies below the folder or in the zip that
        was given.
    error: why there is no file, where a folder or a zip cannot be read.
    beside: whether the files that were handed in with it lie beside it.
    """

    name: str
    file: Path
    inside: Path
    error: Unreadable | None = None
    beside: bool = True


def entries(paths: Iterable[Path], scratch: Path) -> Iterator[Entry]:
    """The notebooks of files, folders and zips, in order; zips are unpacked into folders in `scratch`."""
    for number, path in enumerate(paths):
        if os.path.isdir(path):  # unlike `Path.is_dir`, False for a name that cannot be one
            yield from _in_folder(path)
        elif path.suffix.lower() == ".zip":
            yield from _in_zip(path, scratch / str(number))
        else:
            yield Entry(str(path), path, Path(path.name))


def _in_folder(folder: Path) -> Iterator[Entry]:
    """A folder's notebooks, recursively and sorted, without checkpoints, hidden folders and linked ones."""
    closed: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=closed.append):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(files):
            if name.lower().endswith(".ipynb") and not name.startswith("."):
                file = Path(place, name)
                yield Entry(str(file), file, file.relative_to(folder))
    for error in closed:
        reason = Unreadable(f"The folder cannot be opened: {error.strerror}. What is in it was not checked.")
        yield Entry(str(error.filename), Path(error.filename), Path(), reason)


def _in_zip(path: Path, scratch: Path) -> Iterator[Entry]:
    scratch.mkdir()
    try:
        for name, file, error in unpack(path, scratch):
            parts = [
                part.replace(":", "_") for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")
            ]
            yield Entry(f"{path}:{name}", file, Path(*parts), error, beside=False)
    except Unreadable as error:
        yield Entry(str(path), path, Path(), error)


def check_all(found: Iterable[Entry], **options) -> Iterator[Report]:
    """The report on each entry, in order; `options` are those of `check`."""
    found = iter(found)
    first = list(islice(found, FEW))
    one = partial(_check_one, **options)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(first) < FEW or cores == 1:
        yield from map(one, chain(first, found))
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    everything = [*first, *found]
    done = 0
    try:
        with ProcessPoolExecutor(cores) as pool:
            for report in pool.map(one, everything, chunksize=8):
                yield report
                done += 1
    except BrokenProcessPool:  # a process was killed, for want of memory most likely: the rest one by one
        yield from map(one, everything[done:])


def _check_one(entry: Entry, **options) -> Report:
    if entry.error is not None:
        return unreadable(entry.name, entry.error)
    return check(entry.file, name=entry.name, beside=entry.beside, **options)
