"""The checker as a zip for the browser: what is in it, and that the same files make the same bytes."""

import io
import zipfile
from pathlib import Path

import yaml

from checker.site.loaded.bundle import PACKAGES, bundle

PROJECT = Path(__file__).parents[4]


def test_the_zip_holds_the_rooms_from_a_file_to_its_report():
    """Catches a room or a list of rules that is left out, names below another folder, and what no report needs."""
    archive = zipfile.ZipFile(io.BytesIO(bundle()))
    names = archive.namelist()
    rooms = ("reading", "outputs", "rules", "checking")
    wanted = {PROJECT / "checker" / "__init__.py"}
    wanted |= {
        file for room in rooms for kind in ("py", "yml") for file in (PROJECT / "checker" / room).rglob(f"*.{kind}")
    }
    ours = [name for name in names if name.startswith("checker/")]
    assert {PROJECT / name for name in ours} == wanted and len(ours) == len(wanted) > 20
    assert all(archive.read(name) == (PROJECT / name).read_bytes() for name in ours)
    others = set(names) - set(ours)
    assert {name.partition("/")[0].partition("-")[0] for name in others} == set(PACKAGES)
    assert {f"yaml/{file.name}" for file in Path(yaml.__file__).parent.rglob("*.py")} <= others


def test_the_zip_is_packed_and_the_same_each_time():
    """Catches a zip that a browser loads anew after each build, and one as large as its files."""
    made = bundle()
    entries = zipfile.ZipFile(io.BytesIO(made)).infolist()
    assert made == bundle() and len({entry.date_time for entry in entries}) == 1
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert len(made) < sum(entry.file_size for entry in entries) / 2
