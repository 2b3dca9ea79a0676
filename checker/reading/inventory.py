"""Every file that paths stand for: those that are looked at, and those that are not, with the reason.

Folders are walked, zips unpacked, in folders and in each other too. Links are not followed: a link in a submission could
lead anywhere.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from checker.reading.archive import HIDDEN, ZIP, Room, unpack
from checker.reading.notebook import MAX_FILE_BYTES, RENAMED, Unreadable

MOST_FILES = 1_000  # of one sender
DEEP = 3  # zips within zips that are opened
OWN_COPIES = ".ipynb_checkpoints"


@dataclass(frozen=True)
class Entry:
    """A file to be looked at.

    name: how it is called in what is printed.    inside: where it lies below the folder or in the zip that
        was given.
    error: why there is no file, where a folder or a zip cannot be read.
    beside: whether the files that were handed in with it lie beside it.
    given: the folder or the zip that was given.
    """

    name: str
    file: Path
    inside: Path
    error: Unreadable | None = None
    beside: bool = True
    given: Path = Path()


@dataclass(frozen=True)
class Skipped:
    """A file, a folder or a link that was not looked at, and why. inside, given: as an entry's, of what was handed in."""

    name: str
    reason: str
    inside: Path = Path()
    given: Path = Path()


@dataclass
class Inventory:
    """The notebooks that were found. twins: a file's name by the name of an earlier one that holds the same bytes."""

    entries: list[Entry] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    twins: dict[str, str] = field(default_factory=dict)


def nobody(inside: Path) -> str:
    """The sender of a file where senders are not told apart."""
    return ""


def take(
    paths: Iterable[Path], scratch: Path, sender: Callable[[Path], str] = nobody, also: tuple[str, ...] = ()
) -> Inventory:
    """All that files, folders and zips hold, in order; zips are unpacked into folders in `scratch`.

    Args:
        sender: whose a file is, by where it lies inside. None of them takes another one's room, or fills a list.
        also: endings of further files that are looked at, beside those of notebooks.
    """
    found = Inventory()
    walker = _Walker(scratch, sender, Room() if sender is nobody else Room(each=MAX_FILE_BYTES), also)
    files = Counter()
    named = set()
    for path in paths:
        if path in named:
            found.skipped.append(Skipped(str(path), "named twice"))
            continue
        named.add(path)
        if os.path.isdir(path):  # unlike `Path.is_dir`, False for a name that cannot be one
            parts = walker.folder(path)
        elif path.suffix.lower() == ZIP:
            parts = walker.zip(path, str(path), Path(), DEEP)
        else:
            parts = [Entry(str(path), path, Path(path.name))]
        for part in parts:
            owner = sender(part.inside)
            files[path, owner] += 1
            if owner and files[path, owner] > MOST_FILES:
                continue
            if owner and files[path, owner] == MOST_FILES:
                part = Skipped(part.name, f"one of more than {MOST_FILES}, and only these are looked at", part.inside)
            part = replace(part, given=path)
            (found.skipped if isinstance(part, Skipped) else found.entries).append(part)
    found.twins = _twins(found.entries)
    return found


@dataclass
class _Walker:
    """Walks folders and zips; each zip is unpacked into a folder of its own."""

    scratch: Path
    sender: Callable[[Path], str]
    room: Room
    also: tuple[str, ...]
    opened: int = 0

    def folder(self, folder: Path) -> Iterator[Entry | Skipped]:
        """A folder's files, recursively and sorted."""
        closed: list[OSError] = []
        for place, folders, files in os.walk(folder, onerror=closed.append):
            kept = []
            for name in sorted(folders):
                if reason := _why_not_entered(Path(place, name)):
                    yield Skipped(os.path.join(place, name), reason)
                else:
                    kept.append(name)
            folders[:] = kept
            for name in sorted(files):
                yield from self._file(Path(place, name), folder)
        for error in closed:
            reason = Unreadable(f"The folder cannot be opened: {error.strerror}. What is in it was not checked.")
            yield Entry(str(error.filename), Path(error.filename), Path(), reason)

    def _file(self, file: Path, folder: Path) -> Iterator[Entry | Skipped]:
        inside = file.relative_to(folder)
        lower = file.name.lower()
        if file.is_symlink():
            yield Skipped(str(file), "a link, and links are not followed", inside)
        elif file.name.startswith("."):
            yield Skipped(str(file), "hidden")
        elif lower.endswith((".ipynb", RENAMED, *self.also)):
            yield Entry(str(file), file, inside)
        elif lower.endswith(ZIP):
            yield from self.zip(file, str(file), inside.with_suffix(""), DEEP)
        else:
            yield Skipped(str(file), "not a notebook", inside)

    def zip(self, path: Path, name: str, inside: Path, deep: int) -> Iterator[Entry | Skipped]:
        """A zip's files. name: how it is called; inside: where its files lie below what was given."""
        self.opened += 1
        folder = self.scratch / str(self.opened)
        folder.mkdir()
        empty = True
        try:
            for packed in unpack(
                path, folder, self.room, lambda inner: self.sender(inside / _harmless(inner)), self.also
            ):
                empty = False
                known_as = f"{name}:{packed.name}"
                place = inside / _harmless(packed.name)
                if packed.skipped:
                    yield Skipped(known_as, packed.skipped, Path() if packed.skipped == HIDDEN else place)
                elif packed.error is None and packed.name.lower().endswith(ZIP):
                    if deep == 1:
                        yield Skipped(known_as, f"a zip in {DEEP} zips", place)
                    else:
                        yield from self.zip(packed.file, known_as, place.with_suffix(""), deep - 1)
                else:
                    yield Entry(known_as, packed.file, place, packed.error, beside=False)
        except Unreadable as error:
            yield Entry(name, path, inside, error)
            return
        if empty:
            yield Skipped(name, "an empty zip")


def _why_not_entered(folder: Path) -> str:
    """The reason why a folder is not walked; "" for one that is."""
    if folder.is_symlink():
        return "a link, and links are not followed"
    if folder.name == OWN_COPIES:
        return "Jupyter's own copies"
    return "hidden" if folder.name.startswith((".", "__MACOSX")) else ""


def _harmless(name: str) -> Path:
    """The name of a file in a zip as a path that stays where it is put."""
    parts = [part.replace(":", "_") for part in name.replace("\\", "/").split("/")]
    return Path(*[part for part in parts if part not in ("", ".", "..")])


def _twins(entries: list[Entry]) -> dict[str, str]:
    """Files that hold the same bytes as an earlier one; only those of one size are read for that."""
    by_size: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.error is None and (size := _size(entry.file)):
            by_size.setdefault(size, []).append(entry)
    found = {}
    for alike in by_size.values():
        first: dict[bytes, str] = {}
        for entry in alike if len(alike) > 1 else []:
            digest = _digest(entry.file)
            if digest and digest in first:
                found[entry.name] = first[digest]
            elif digest:
                first[digest] = entry.name
    return found


def _size(file: Path) -> int:
    try:
        return os.path.getsize(file) if os.path.isfile(file) else 0
    except OSError:
        return 0


def _digest(file: Path) -> bytes:
    try:
        with open(file, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except OSError:
        return b""
