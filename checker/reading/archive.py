"""The notebooks in a zip as a learning platform exports it, unpacked without trusting it."""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.reading.notebook import MAX_FILE_BYTES, Unreadable

CHECKED = (".ipynb", ".md", ".txt")
ZIP = ".zip"
MOST_EXPANSION = 200  # a notebook compresses about tenfold
HIDDEN = "hidden"  # the reason why a file is left in the zip that nobody handed in on purpose
SMALL = 1_000_000  # bytes below which any expansion is harmless
# What `zipfile` raises for what is damaged, encrypted, or packed in a way that it does not know.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError, ValueError)


@dataclass
class Room:
    """The bytes that may still be unpacked, in all zips of one call together."""

    left: int = 10 * MAX_FILE_BYTES

    def take(self, size: int) -> None:
        """Raises Unreadable when there is no room."""
        if size > self.left:
            raise Unreadable(
                "What is in the zip takes more than 2 GB unpacked. Unpack it yourself and check the folder."
            )
        self.left -= size


@dataclass(frozen=True)
class Packed:
    """One file of a zip.

    name: its name there.    file: where it was unpacked.    error: why it was not, where it should have been.
    skipped: why it was left in the zip, "" for one that is looked at.
    """

    name: str
    file: Path
    error: Unreadable | None = None
    skipped: str = ""


def unpack(path: Path, folder: Path, room: Room) -> Iterator[Packed]:
    """Every file of an archive, those that are looked at unpacked into `folder`.

    Names in the archive are shown and never used as paths, so that `../../x.ipynb` goes nowhere; the files have numbers
    of ours.

    Raises:
        Unreadable: the file is not a zip, or what it holds would take too much room.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("This is a device or a pipe, not a file. Give the zip itself.")
        with zipfile.ZipFile(path) as archive:
            entries = sorted((e for e in archive.infolist() if not e.is_dir()), key=lambda e: e.filename)
            room.take(sum(entry.file_size for entry in entries if not _why_not(entry)))
            for number, entry in enumerate(entries):
                target = folder / f"{number}{_ending(entry.filename)}"
                if reason := _why_not(entry):
                    yield Packed(entry.filename, target, skipped=reason)
                else:
                    yield Packed(entry.filename, target, _write(archive, entry, target))
    except DAMAGE as error:
        raise Unreadable(f"The zip cannot be read ({error}). Download it again.") from error


def _ending(name: str) -> str:
    """The ending of a name that tells the kind of a file: ".ipynb.txt", ".zip"."""
    lower = name.lower()
    return ".ipynb.txt" if lower.endswith(".ipynb.txt") else Path(lower).suffix


def _why_not(entry: zipfile.ZipInfo) -> str:
    """The reason why a file in a zip is not looked at; "" for one that is."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link, and links are not followed"
    if _is_hidden(entry.filename):
        return HIDDEN
    return "" if entry.filename.lower().endswith((*CHECKED, ZIP)) else "not a notebook"


def _is_hidden(name: str) -> bool:
    return any(
        part.startswith((".", "__MACOSX")) and part not in (".", "..") for part in name.replace("\\", "/").split("/")
    )


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> Unreadable | None:
    """Unpack one entry; the reason where that is not done."""
    if entry.file_size > max(SMALL, MOST_EXPANSION * entry.compress_size) or entry.file_size > MAX_FILE_BYTES:
        return Unreadable(f"It unpacks to {entry.file_size / 1e6:,.0f} MB, too much for a notebook.")
    try:
        with archive.open(entry) as source:
            target.write_bytes(source.read(entry.file_size + 1)[: entry.file_size])
    except DAMAGE as error:
        return Unreadable(f"It is damaged or encrypted in the zip ({error}). Download the zip again.")
    return None
