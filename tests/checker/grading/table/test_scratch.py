"""Temporary files of a run: below the class's folder, gone with the run, and after a kill with the next one."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from checker.commands import grade
from checker.grading.box.walls import ROOT
from checker.grading.table.scratch import scratch_in
from tests.checker.command_line import checker

KILLED = """
import os, signal, sys, tempfile
from pathlib import Path
from checker.grading.table.scratch import scratch_in
with scratch_in(Path(sys.argv[1])):
    Path(tempfile.mkdtemp(), "handed-in.ipynb").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""
ASK = "import tempfile; print(tempfile.gettempdir())"


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """The folder for temporary files outside of a class."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "outside"))
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


def test_what_a_killed_run_leaves_lies_in_the_class_and_goes_with_the_next(outside, tmp_path):
    """Catches notebooks of students that stay in /tmp for good when the grader is killed, and nobody looks for them."""
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, check=False)
    (left,) = tmp_path.rglob("handed-in.ipynb")
    assert left.is_relative_to(tmp_path / "scratch") and not list(outside.iterdir())
    with scratch_in(tmp_path):
        assert not left.exists()


def test_what_is_started_elsewhere_puts_its_files_there_too(outside, tmp_path, monkeypatch):
    """Catches workers that unpack into /tmp what their grader keeps out of it."""
    monkeypatch.chdir(tmp_path)
    Path("graded").mkdir()
    with scratch_in(Path("graded")):
        said = subprocess.run([sys.executable, "-c", ASK], cwd="/", capture_output=True, text=True, check=True).stdout
    assert Path(said.strip()).is_relative_to(tmp_path / "graded" / "scratch")


def test_a_run_that_is_still_going_on_keeps_its_files(outside, tmp_path):
    """Catches a second grader, started by mistake, that takes the files from under the first."""
    with scratch_in(tmp_path):
        own = Path(tempfile.mkdtemp())
        with scratch_in(tmp_path):
            assert own.exists()


def test_a_run_of_somebody_else_keeps_its_files(outside, tmp_path, monkeypatch):
    """Catches two assistants who grade into one folder: nobody may ask after a process of the other."""
    own = tmp_path / "scratch" / "1-theirs"
    own.mkdir(parents=True)

    def refused(process, signal):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "kill", refused)
    with scratch_in(tmp_path):
        assert own.exists()


@pytest.mark.parametrize("end", [None, KeyboardInterrupt])
def test_afterwards_all_is_as_before(outside, tmp_path, end):
    """Catches temporary files of what comes later in a folder that is gone."""
    try:
        with scratch_in(tmp_path):
            tempfile.mkdtemp()
            if end:
                raise end
    except KeyboardInterrupt:
        pass
    assert tempfile.gettempdir() == str(outside)
    assert not list((tmp_path / "scratch").iterdir())


def test_a_machine_that_names_no_folder_names_none_afterwards(outside, tmp_path, monkeypatch):
    """Catches a run that fails where TMPDIR is not set, or leaves it set to a folder that is gone."""
    monkeypatch.delenv("TMPDIR")
    with scratch_in(tmp_path):
        assert Path(os.environ["TMPDIR"]).is_dir()
    assert "TMPDIR" not in os.environ and Path(tempfile.gettempdir()).is_dir()


def test_files_that_cannot_be_removed_stop_nobody(outside, tmp_path, monkeypatch):
    """Catches a class that is graded and not written down, for a disk that lets nobody delete a file that is open."""
    left = tmp_path / "scratch" / "4194305-left"  # above the largest number that a process has
    left.mkdir(parents=True)

    def busy(*_, **__):
        raise OSError(errno.EBUSY, "Device or resource busy")

    with monkeypatch.context() as changed:
        changed.setattr(os, "rmdir", busy)
        with scratch_in(tmp_path):
            own = Path(tempfile.mkdtemp())
    assert left.exists() and own.exists()
    with scratch_in(tmp_path):
        assert not left.exists()


def test_the_command_works_in_there(outside, tmp_path, monkeypatch):
    """Catches a folder that is made and that nobody uses."""
    places = []
    monkeypatch.setattr(grade, "_require_students", lambda *_: places.append(tempfile.gettempdir()))
    handed_in = tmp_path / "submissions"
    handed_in.mkdir()
    (tmp_path / "graded").mkdir()
    (tmp_path / "graded" / "class.yml").write_text(f"seed: 1\nworked: ['{ROOT / 'notebooks'}']\n")
    done = checker("grade", "submissions", "--isolation", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert Path(places[0]).resolve().parent == tmp_path / "graded" / "scratch"
