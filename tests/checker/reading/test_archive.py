"""Zips: what is unpacked of them, and how much."""

import zipfile

import pytest

from checker.reading import archive
from checker.reading.archive import Room, unpack
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
    """Catches a disk that is filled by many zips, each of which is small enough."""
    room = Room(left=250)
    first, second = (zipped(tmp_path / f"{name}.zip", {"hw.ipynb": b"x" * 200}) for name in "ab")
    assert [packed.error for packed in unpacked(first, tmp_path, room)] == [None]
    with pytest.raises(Unreadable, match="Unpack it yourself"):
        unpacked(second, tmp_path, room)


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
