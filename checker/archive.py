"""The notebooks in a zip as a learning platform exports it, unpacked without trusting it."""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from checker.notebook import MAX_FILE_BYTES, Unreadable

CHECKED = (".ipynb", ".md", ".txt")
MOST_EXPANSION = 200  # a notebook compresses about tenfold
SMALL = 1_000_000  # bytes below which any expansion is harmless
# What `zipfile` raises for what is damaged, encrypted, or packed in a way that it does not know.
DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, RuntimeError, ValueError)


def unpack(path: Path, folder: Path) -> Iterator[tuple[str, Path, Unreadable | None]]:
    """Each notebook's name in the archive, its file in `folder`, and why there is none.

    Names in the archive are shown and never used as paths, so that `../../x.ipynb` goes nowhere; the files
    have numbers of ours.

    Raises:
        Unreadable: the file is not a zip, or what it holds would take too much room.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("This is a device or a pipe, not a file. Give the zip itself.")
        with zipfile.ZipFile(path) as archive:
            entries = [
                e
                for e in archive.infolist()
                if not e.is_dir() and e.filename.lower().endswith(CHECKED) and not _is_hidden(e.filename)
            ]
            if sum(entry.file_size for entry in entries) > 10 * MAX_FILE_BYTES:
                raise Unreadable(
                    "What is in the zip takes more than 2 GB unpacked. Unpack it yourself and check the folder."
                )
            for number, entry in enumerate(sorted(entries, key=lambda e: e.filename)):
                target = folder / f"{number}{Path(entry.filename).suffix.lower()}"
                yield entry.filename, target, _write(archive, entry, target)
    except DAMAGE as error:
        raise Unreadable(f"The zip cannot be read ({error}). Download it again.") from error


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
