"""The inventory of what was handed in, without what a computer put beside it."""

import io
import zipfile
from pathlib import Path

from checker.reading.inventory import take


def test_what_is_hidden_in_a_zip_was_not_handed_in(tmp_path):
    """Catches a place for "._hw.ipynb", which a Mac puts into a zip: a student would be told that it was not graded."""
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("jd1/._hw.ipynb", "jd1/hw.pdf"):
            archive.writestr(name, b"")
    found = take([tmp_path / "all.zip"], tmp_path)
    assert {Path(one.name).name: one.inside for one in found.skipped} == {
        "._hw.ipynb": Path(),
        "hw.pdf": Path("jd1/hw.pdf"),
    }


def zipped(**files: bytes) -> bytes:
    """A zip that holds these files; "__" in a name stands for its dot."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


def test_zips_within_zips_are_opened_to_a_depth_that_is_told(tmp_path):
    """Catches a zip that holds itself, and one that was not opened without a name by which it could be found."""
    third = zipped(hw__ipynb=b"3", fourth__zip=zipped(hw__ipynb=b"4"))
    (tmp_path / "first.zip").write_bytes(zipped(hw__ipynb=b"1", second__zip=zipped(hw__ipynb=b"2", third__zip=third)))
    found = take([tmp_path / "first.zip"], tmp_path)
    assert [(entry.name, entry.inside) for entry in found.entries] == [
        (f"{tmp_path}/first.zip:hw.ipynb", Path("hw.ipynb")),
        (f"{tmp_path}/first.zip:second.zip:hw.ipynb", Path("second/hw.ipynb")),
        (f"{tmp_path}/first.zip:second.zip:third.zip:hw.ipynb", Path("second/third/hw.ipynb")),
    ]
    [left] = found.skipped
    assert left.name == f"{tmp_path}/first.zip:second.zip:third.zip:fourth.zip" and "3 zips" in left.reason
    assert left.inside == Path("second/third/fourth.zip")


def test_a_broken_zip_keeps_the_place_where_it_was_handed_in(tmp_path):
    """Catches a student whose zip cannot be opened and who is told of nobody's."""
    (tmp_path / "all" / "jd1").mkdir(parents=True)
    (tmp_path / "all" / "jd1" / "hw.zip").write_bytes(b"no zip")
    [entry] = take([tmp_path / "all"], tmp_path).entries
    assert entry.inside == Path("jd1/hw") and entry.name.endswith("hw.zip") and entry.error


def test_a_name_in_a_zip_stays_where_it_is_put(tmp_path):
    """Catches a file of another system whose name leads out of its folder."""
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name in ("C:/jd1/hw.ipynb", "../jd2/./hw.ipynb", "jd3\\hw.ipynb"):
            archive.writestr(name, name)
    entries = take([tmp_path / "all.zip"], tmp_path).entries
    assert {str(entry.inside) for entry in entries} == {"C_/jd1/hw.ipynb", "jd2/hw.ipynb", "jd3/hw.ipynb"}
