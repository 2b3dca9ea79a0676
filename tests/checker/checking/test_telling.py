"""The length of a report: one notebook on a screen, a folder in one line each, every file accounted for."""

import errno
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from checker.checking.check import check
from checker.grading.table.class_folder import Folder
from checker.reading.files import write_beside
from checker.reading.inventory import take
from tests.checker.command_line import checker, process
from tests.checker.conftest import GOOD, code

SCREEN = 40


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_a_notebook_with_everything_wrong_fits_a_screen(save):
    """Catches hundreds of lines of which the first is scrolled away."""
    cells = [code(f"def f{n}(x):\n    return eval(completion)  # {'x' * 1000}", "y" * 2000, None) for n in range(60)]
    path = save({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    lines = checker(path).stdout.splitlines()
    assert len(lines) <= SCREEN and any("--verbose" in line for line in lines)
    assert len(checker(path, "--verbose").stdout.splitlines()) > len(lines)


def test_every_file_is_accounted_for(tmp_path):
    """Catches a submission that nobody was told of: in a zip in a folder, in a zip in a zip, renamed, linked, hidden."""
    notebook = json.dumps(GOOD).encode()
    folder = tmp_path / "in"
    (folder / "a").mkdir(parents=True)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "hw-checkpoint.ipynb").write_bytes(notebook)  # in a folder that is not entered
    (folder / "a" / "hw.ipynb").write_bytes(notebook)
    (folder / "a" / "renamed.ipynb.txt").write_bytes(notebook)
    (folder / "a" / "hw.pdf").write_bytes(b"%PDF")
    (folder / "a" / ".hidden.ipynb").write_bytes(notebook)
    (folder / "a" / "linked.ipynb").symlink_to(folder / "a" / "hw.ipynb")
    (folder / "linked").symlink_to(tmp_path)
    inner = zipped(tmp_path / "inner.zip", {"deep.ipynb": notebook}).read_bytes()
    zipped(folder / "b.zip", {"hw.ipynb": notebook, "more.zip": inner, "notes.pdf": b"%PDF"})
    (tmp_path / "scratch").mkdir()
    found = take([folder], tmp_path / "scratch")
    assert [str(entry.inside) for entry in found.entries] == [
        "b/hw.ipynb",
        "b/more/deep.ipynb",
        "a/hw.ipynb",
        "a/renamed.ipynb.txt",
    ]
    assert {Path(s.name.split(":")[-1]).name: s.reason for s in found.skipped} == {
        ".ipynb_checkpoints": "Jupyter's own copies",
        "linked": "a link, and links are not followed",
        "notes.pdf": "not a notebook",
        ".hidden.ipynb": "hidden",
        "hw.pdf": "not a notebook",
        "linked.ipynb": "a link, and links are not followed",
    }
    assert len(found.twins) == 3
    assert check(folder / "a" / "renamed.ipynb.txt").status == "pass"


def test_the_json_says_of_a_copy_whose_it_is(good, save, tmp_path):
    """Catches two submissions with the same bytes that the text tells of and the JSON does not."""
    save(good, "a.ipynb"), save(good, "b.ipynb")
    assert "the same bytes twice: 1 (" in checker(tmp_path).stdout
    first, second = json.loads(checker("check", tmp_path, "--format", "json").stdout)
    assert "same_bytes_as" not in first and second["same_bytes_as"] == first["name"]


def test_a_notebook_that_is_named_twice_is_checked_once(good, save):
    """Catches "2 of 2 notebooks pass" of one file that a shell's pattern and its own name both stand for."""
    path = save(good)
    report, again = json.loads(checker("check", path, path, "--format", "json").stdout)
    assert report["status"] == "pass" and (again["status"], again["reason"]) == ("skipped", "named twice")
    assert "not checked, named twice: 1 (" in checker(path, path).stdout


@pytest.mark.parametrize("beside", [False, True])
def test_an_empty_zip_is_accounted_for(good, save, tmp_path, beside):
    """Catches a submission of which neither text nor JSON says a word; alone it left a program without any JSON."""
    zipped(tmp_path / "empty.zip", {})
    if beside:
        save(good)
    done = checker("check", tmp_path, "--format", "json")
    assert done.returncode == (0 if beside else 2)
    assert json.loads(done.stdout)[-1] == {
        "name": str(tmp_path / "empty.zip"),
        "status": "skipped",
        "reason": "an empty zip",
    }
    assert "not checked, an empty zip: 1 (" in checker(tmp_path).stdout


def test_a_new_file_keeps_the_umask_and_an_old_one_its_permissions(tmp_path):
    """Catches grades that everybody on the machine may read, because a fixed mode was set."""
    before = os.umask(0o077)
    try:
        write_beside(tmp_path / "new", "x")
    finally:
        os.umask(before)
    (tmp_path / "old").write_text("")
    (tmp_path / "old").chmod(0o640)
    write_beside(tmp_path / "old", "x")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "old")]
    assert modes == [0o600, 0o640] and not list(tmp_path.glob(".*"))


def test_a_zip_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """Catches half a zip in the place of a whole one where the disk is full, and line ends that are changed in it."""
    folder = Folder(tmp_path)
    place = folder.write("gradebooks/class.zip", b"PK\r\n\xff")
    assert place.read_bytes() == b"PK\r\n\xff" and stat.S_IMODE(place.stat().st_mode) == 0o600

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("checker.reading.files.os.replace", full)
    with pytest.raises(OSError, match="class.zip"):
        folder.write("gradebooks/class.zip", b"PK and more")
    assert place.read_bytes() == b"PK\r\n\xff" and list(place.parent.iterdir()) == [place]


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path, good, save):
    """Catches `-o /dev/null` (or a link to the real file) replaced by a file, which root would not notice."""
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    write_beside(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "after"
    assert "# Cell 1" in process("-m", "checker", "convert", save(good), "-o", "/dev/stdout").stdout
    write_beside(Path("/dev/null"), "x")
    assert not Path("/dev/null").is_file()
    with pytest.raises(IsADirectoryError):
        write_beside(tmp_path, "x")


def test_half_a_letter_in_a_type_is_written(good, save, tmp_path):
    """Catches a traceback from `convert -o`: JSON may hold a lone surrogate, UTF-8 may not."""
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/\ud800": "x", "text/\ud801": "y"}}
    good["cells"][4]["outputs"].append(output)
    done = checker("convert", save(good), "-o", tmp_path / "out.md")
    assert done.returncode == 0 and "[image/?]" in (tmp_path / "out.md").read_text()


@pytest.mark.parametrize(
    ("key", "place"),
    [("source", "the empty cell at place 5 of the file in Cell 3: Data"), ("cell_type", "Cell 4: Reward function")],
)
def test_a_cell_that_lacks_something_is_named_by_assign(good, save, tmp_path, key, place):
    del good["cells"][4][key]
    done = checker("assign", save(good), "-o", tmp_path / "out")
    assert done.returncode == 2 and f", {place}: this is not a valid cell" in done.stderr


def test_warnings_of_students_code_stay_with_them(good, save):
    """Catches `SyntaxWarning: invalid escape sequence` on the terminal of whoever checks."""
    good["cells"][4]["source"] += '\npattern = "\\d+ \\w"\nx = 1 is 1'
    assert process("-m", "checker", save(good)).stderr == ""


def test_many_notebooks_are_checked_in_processes_of_their_own(good, save, tmp_path):
    """Catches a report that does not travel from one process to another."""
    for number in range(26):
        save(good, f"{number:02d}.ipynb")
    assert "26 of 26 notebooks pass." in process("-m", "checker", tmp_path).stdout
