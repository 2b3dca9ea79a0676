"""The notebooks in a zip as a learning platform exports it, unpacked without trusting it."""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from checker.reading.notebook import MAX_FILE_BYTES, Unreadable

CHECKED = (".ipynb", ".md", ".txt")
ZIP = ".zip"
MOST_EXPANSION = 200  # a notebook compresses about tenfold
HIDDEN = "hidden"  # the reason why a file is left in the zip that nobody handed in on purpose
SAYS_UTF8 = 0x800  # among a file's flags
SMALL = 1_000_000  # bytes below which any expansion is harmless
# What `zipfile` raises for what is damaged, encrypted, or packed in a way that it does not know.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError, ValueError)


class CannotUnpack(OSError):
    """The disk takes no more, which says nothing about a zip."""


@dataclass
class Room:
    """The bytes that may still be unpacked, in all zips of one call together and for each sender of something in them."""

    left: int = 10 * MAX_FILE_BYTES
    each: int = 10 * MAX_FILE_BYTES
    taken: dict[str, int] = field(default_factory=dict)

    def take(self, size: int, sender: str = "") -> str:
        """The reason why there is no room for so many bytes; "" where there is, and it is taken."""
        mine = self.taken.get(sender, 0) + size
        if mine > self.each:
            return f"What was handed in with it takes more than {self.each / 1e6:,.0f} MB unpacked."
        if size > self.left:
            return "What is in the zips takes more than 2 GB unpacked. Unpack them yourself and give the folder."
        self.taken[sender] = mine
        self.left -= size
        return ""


def nobody(name: str) -> str:
    """The sender of a file where senders are not told apart."""
    return ""


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


def unpack(
    path: Path, folder: Path, room: Room, sender: Callable[[str], str] = nobody, also: tuple[str, ...] = ()
) -> Iterator[Packed]:
    """Every file of an archive, those that are looked at unpacked into `folder`.

    Names in the archive are shown and never used as paths, so that `../../x.ipynb` goes nowhere; the files have numbers
    of ours. A file that is too large, or for which its sender has no room left, is left in the zip, and takes none of
    the others with it.

    Args:
        also: endings of further files that are looked at, beside those of notebooks.

    Raises:
        Unreadable: the file is not a zip.
        CannotUnpack: the disk is full.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("This is a device or a pipe, not a file. Give the zip itself.")
        with zipfile.ZipFile(path) as archive:
            entries = sorted(((_name(e), e) for e in archive.infolist() if not e.is_dir()), key=lambda pair: pair[0])
            for number, (name, entry) in enumerate(entries):
                target = folder / f"{number}{_ending(name)}"
                if reason := _why_not(entry, name, also):
                    yield Packed(name, target, skipped=reason)
                elif too_large := _too_large(entry) or room.take(entry.file_size, sender(name)):
                    yield Packed(name, target, Unreadable(too_large))
                else:
                    yield Packed(name, target, _write(archive, entry, target))
    except CannotUnpack:
        raise
    except DAMAGE as error:
        raise Unreadable(f"The zip cannot be read ({error}). Download it again.") from error


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of a file in a zip. Finder writes UTF-8 and does not say so, which reads as another encoding."""
    if entry.flag_bits & SAYS_UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _ending(name: str) -> str:
    """The ending of a name that tells the kind of a file: ".ipynb.txt", ".zip"."""
    lower = name.lower()
    return ".ipynb.txt" if lower.endswith(".ipynb.txt") else Path(lower).suffix


def _why_not(entry: zipfile.ZipInfo, name: str, also: tuple[str, ...]) -> str:
    """The reason why a file in a zip is not looked at; "" for one that is."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link, and links are not followed"
    if _is_hidden(name):
        return HIDDEN
    return "" if name.lower().endswith((*CHECKED, ZIP, *also)) else "not a notebook"


def _is_hidden(name: str) -> bool:
    return any(
        part.startswith((".", "__MACOSX")) and part not in (".", "..") for part in name.replace("\\", "/").split("/")
    )


def _too_large(entry: zipfile.ZipInfo) -> str:
    """The reason why a file is too large to be a notebook, "" for one that is not."""
    if entry.file_size > max(SMALL, MOST_EXPANSION * entry.compress_size) or entry.file_size > MAX_FILE_BYTES:
        return f"It unpacks to {entry.file_size / 1e6:,.0f} MB, too much for a notebook."
    return ""


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> Unreadable | None:
    """Unpack one entry; the reason where it cannot be read."""
    try:
        with archive.open(entry) as source:
            content = source.read(entry.file_size + 1)[: entry.file_size]
    except DAMAGE as error:
        return Unreadable(f"It is damaged or encrypted in the zip ({error}). Download the zip again.")
    try:
        target.write_bytes(content)
    except OSError as error:
        raise CannotUnpack(error.errno, error.strerror, str(target)) from error
    return None
