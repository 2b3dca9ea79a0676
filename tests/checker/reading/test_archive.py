"""Zips: what is unpacked of them, and how much."""

import stat
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from checker.reading import archive
from checker.reading.archive import CannotUnpack, Room, unpack
from checker.reading.notebook import Unreadable


def zipped(path, files: dict[str, bytes]):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def unpacked(path, tmp_path, room=None):
    folder = tmp_path / f"into-{path.stem}"
    folder.mkdir()
    return list(unpack(path, folder, room or Room()))


def test_the_room_is_that_of_all_zips_together(tmp_path):
    """Catches a disk that is filled by many zips, each of which is small enough; and one file that is the end of a zip."""
    room = Room(left=250)
    first, second = (zipped(tmp_path / f"{name}.zip", {"a.ipynb": b"x" * 200, "b.ipynb": b"x"}) for name in "ab")
    assert [packed.error for packed in unpacked(first, tmp_path, room)] == [None, None]
    large, small = unpacked(second, tmp_path, room)
    assert "Unpack them yourself" in str(large.error) and small.error is None


def test_nobody_takes_the_room_of_the_others(tmp_path):
    """Catches a student who hands in so much that nothing is left for those who come later in the alphabet."""
    path = zipped(tmp_path / "a.zip", {f"{name}.ipynb": b"x" * 100 for name in ("ann1", "ann2", "ann3", "bob1")})
    folder = tmp_path / "into"
    folder.mkdir()
    found = list(unpack(path, folder, Room(left=300, each=200), lambda name: name[:3]))
    assert [packed.error is None for packed in found] == [True, True, False, True]


def test_a_full_disk_is_no_students_fault(tmp_path, monkeypatch):
    """Catches a class that is told one by one that its notebooks are damaged, and is graded without them."""
    monkeypatch.setattr(Path, "write_bytes", lambda path, content: open("/dev/full", "wb", 0).write(content))
    with pytest.raises(CannotUnpack, match="No space left"):
        unpacked(zipped(tmp_path / "a.zip", {"a.ipynb": b"x"}), tmp_path)


def test_a_long_notebook_is_unpacked_and_a_bomb_is_not(tmp_path, monkeypatch):
    """Catches the smaller of two bounds: what is below either of them is harmless."""
    monkeypatch.setattr(archive, "SMALL", 10_000)
    files = {"long.ipynb": bytes(range(256)) * 80, "dense.ipynb": b"x" * 9_000, "bomb.ipynb": b"x" * 100_000_000}
    found = {packed.name: packed for packed in unpacked(zipped(tmp_path / "a.zip", files), tmp_path)}
    assert [name for name, packed in found.items() if packed.error] == ["bomb.ipynb"]
    assert found["long.ipynb"].file.read_bytes() == files["long.ipynb"]


@pytest.mark.parametrize("name", [".git/hw.ipynb", "a/.hidden.ipynb", "__MACOSX/a/hw.ipynb", ".a/.hw.ipynb"])
def test_what_is_hidden_at_any_level_is_hidden(name, tmp_path):
    """Catches copies that a system or a program made for itself, graded as somebody's notebook."""
    (packed,) = unpacked(zipped(tmp_path / "a.zip", {name: b"{}"}), tmp_path)
    assert packed.skipped == "hidden"


def test_what_is_looked_at_has_its_ending_and_what_is_not_its_reason(tmp_path):
    """Catches a notebook that a browser renamed and is read as text, a link that is followed, a picture that is read."""
    files = {"a.IPYNB.TXT": b"{}", "b.Md": b"x", "./c.ipynb": b"{}", "d.png": b"x", "e.ipynb": b"/etc/passwd"}
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFLNK if name == "e.ipynb" else stat.S_IFREG) << 16
            made.writestr(entry, content)
    found = {packed.name: packed for packed in unpacked(path, tmp_path)}
    assert {name: (packed.file.name, packed.skipped) for name, packed in found.items()} == {
        "./c.ipynb": ("0.ipynb", ""),
        "a.IPYNB.TXT": ("1.ipynb.txt", ""),
        "b.Md": ("2.md", ""),
        "d.png": ("3.png", "not a notebook"),
        "e.ipynb": ("4.ipynb", "a link, and links are not followed"),
    }


def test_what_just_fits_is_unpacked_and_what_does_not_is_told(tmp_path, monkeypatch):
    """Catches a bound that refuses what is as large as it, and sizes told in bytes."""
    monkeypatch.setattr(archive, "SMALL", 100)
    monkeypatch.setattr(archive, "MOST_EXPANSION", 1)
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 100)
    path = zipped(tmp_path / "a.zip", {"fits.ipynb": b"x" * 100, "large.ipynb": b"x" * 3_500_002})
    room = Room(left=100)
    fits, large = unpacked(path, tmp_path, room)
    assert fits.error is None and room.left == 0
    assert str(large.error) == "It unpacks to 4 MB, too much for a notebook."
    (tmp_path / "no.zip").write_bytes(b"PK")
    with pytest.raises(Unreadable, match=r"The zip cannot be read \(.*\)\. Download it again"):
        unpacked(tmp_path / "no.zip", tmp_path)
    with pytest.raises(Unreadable, match="a device or a pipe"):
        list(unpack(Path("/dev/null"), tmp_path, room))


def test_a_bomb_that_says_it_is_small_never_lies_in_memory(tmp_path):
    """Catches a size that is believed and checked after all was unpacked; and a refusal without its reason."""
    bomb = zipped(tmp_path / "a.zip", {"hw.ipynb": b"x" * 20_000_000})
    bomb.write_bytes(bomb.read_bytes().replace(struct.pack("<I", 20_000_000), struct.pack("<I", 10)))
    tracemalloc.start()
    (packed,) = unpacked(bomb, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000
    assert "damaged or encrypted in the zip (Bad CRC-32" in str(packed.error)
