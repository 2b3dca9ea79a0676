"""Names and places of files: nothing is written elsewhere, nothing is waited for, one bad file stops no other."""

import json
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from checker.__main__ import app
from checker.checking.batch import check_all
from checker.reading.inventory import take
from tests.checker.command_line import checker
from tests.checker.conftest import GOOD
from tests.checker.hostile import reports_on, zip_of

NOBODY = 65534
NAMES = [
    "C:.ipynb",
    "/etc/absolute.ipynb",
    "../../climbed.ipynb",
    "..\\climbed.ipynb",
    f"{'long ' * 60}.ipynb",
    f"{'ü' * 200}.ipynb",
    "a.html/inside.ipynb",
    "a.ipynb",
    "index.ipynb",
    "two\nlines.ipynb",
    "\N{RIGHT-TO-LEFT OVERRIDE}bpyni.exe.ipynb",
    "quotes\"'<b>&.ipynb",
]


def test_names_in_a_zip_are_only_names(tmp_path):
    """Every notebook gets a page below the output folder; none replaces the index or another."""
    place = tmp_path / "deep" / "er"
    place.mkdir(parents=True)
    path, out = zip_of(place / "export.zip", NAMES), place / "out"
    done = CliRunner().invoke(app, ["render", str(path), "-o", str(out), "--engine", "builtin"])
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit)
    assert {file.name for file in place.iterdir()} == {"export.zip", "out"}
    assert [file.name for file in tmp_path.iterdir()] == ["deep"]
    pages = [file for file in out.rglob("*") if file.is_file() and file != out / "index.html"]
    unwritten = done.output.count("cannot be written")  # a.html, where a folder has that name
    assert len(pages) + unwritten == len(NAMES) and unwritten == 1
    assert not [file for file in out.rglob("*") if not file.name.isprintable()]


def test_a_name_cannot_print_another_verdict(tmp_path):
    path = tmp_path / "mine.ipynb\npass  theirs.ipynb"
    path.with_name(path.name + ".ipynb").write_text("{}")
    out = CliRunner().invoke(app, ["check", str(tmp_path)]).output
    assert [line.split()[0] for line in out.splitlines() if "theirs" in line] == ["unreadable"]


def test_a_name_that_is_not_utf8(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.ipynb")
    try:
        path.write_text(json.dumps(GOOD))
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    done = CliRunner().invoke(app, ["render", str(tmp_path), "-o", str(tmp_path / "out"), "--engine", "builtin"])
    assert done.exit_code == 0 and (tmp_path / "out" / "caf\N{REPLACEMENT CHARACTER}.html").is_file()


def test_pipes_devices_and_loops_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.ipynb"), os.mkfifo(tmp_path / "pipe.md"), os.mkfifo(tmp_path / "pipe.zip")
    (tmp_path / "endless.md").symlink_to("/dev/zero")
    (tmp_path / "one.ipynb").symlink_to("two.ipynb"), (tmp_path / "two.ipynb").symlink_to("one.ipynb")
    (tmp_path / "inner").mkdir(), (tmp_path / "inner" / "up").symlink_to(tmp_path)
    reports = reports_on(*sorted(tmp_path.iterdir()), tmp_path / ("x" * 300 + ".ipynb"))
    assert [report.status for report in reports] == ["unreadable"] * 7
    assert {report.status for report in reports_on(tmp_path)} == {"unreadable"}


@contextmanager
def without_privilege():
    """As an ordinary user where the tests run as root, whom no permission stops."""
    if not hasattr(os, "geteuid"):
        pytest.skip("permissions are another matter here")
    privileged = os.geteuid() == 0
    if privileged:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if privileged:
            os.seteuid(0)


def test_a_folder_without_permission_does_not_stop_the_rest():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("closed", "open"):
            (folder / place).mkdir()
            (folder / place / "hw.ipynb").write_text(json.dumps(GOOD))
        (folder / "open" / "secret.ipynb").write_text(json.dumps(GOOD))
        (folder / "open" / "secret.ipynb").chmod(0), (folder / "closed").chmod(0), folder.chmod(0o755)
        with without_privilege():
            reports = list(check_all(take([folder, folder / "closed" / "hw.ipynb"], folder / "scratch").entries))
        (folder / "closed").chmod(0o700)
    said = {Path(report.name).name: report.findings[0].advice for report in reports if report.findings}
    assert [report.status for report in reports].count("pass") == 1
    assert set(said) == {"closed", "secret.ipynb", "hw.ipynb"}
    assert all("Permission denied" in advice for advice in said.values())


@pytest.mark.parametrize("command", [["convert"], ["render", "--engine", "builtin"], ["assign", "--without-exercises"]])
def test_a_place_that_cannot_be_written_is_named(save, command):
    """The folder to write to is a file."""
    path = save(GOOD)
    done = checker(*command, path, "-o", path / "out")
    assert done.returncode == 2 and "cannot be written" in done.stderr and str(path) in done.stderr
    assert json.loads(path.read_text()) == GOOD
