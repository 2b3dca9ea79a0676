"""The inventory of what was handed in, without what a computer put beside it."""

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
