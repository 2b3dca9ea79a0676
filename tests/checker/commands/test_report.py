"""`checker report`: which notebooks are run, with what, and when none is. What a run does: see tests/checker/running/."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from checker.commands import report
from checker.running import report as running
from tests.checker.command_line import checker


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """A function that calls the command; and the entries, as they were, and the options that were to be run."""

    def run_all(entries, output, console, **options):
        go.entries = [(entry.name, entry.file.name, entry.error or entry.file.read_text()) for entry in entries]
        go.places = [entry.file.parent for entry in entries]
        go.options = options | {"output": output}
        console.print(f"12 of 'x' {'y' * 200}")
        return go.status

    def go(*arguments):
        return checker("report", *arguments, cwd=tmp_path)

    go.status = 0
    monkeypatch.setattr(running, "run_all", run_all)
    (tmp_path / "a.ipynb").write_text("a")
    return go


@pytest.mark.parametrize("status", [0, 1, 130])
def test_the_status_of_the_runs_is_the_commands(status, ran):
    ran.status = status
    assert ran("a.ipynb").returncode == status
    assert ran.entries == [("a.ipynb", "a.ipynb", "a")]


def test_notebooks_are_run_as_the_command_line_says(ran):
    """Catches a notebook that is written to, because nobody asked."""
    ran("a.ipynb")
    usual = {"in_place": False, "require_claim": False, "engine": "auto", "output": Path("build")}
    assert ran.options == usual
    ran("a.ipynb", "--in-place", "--require-claim", "--engine", "builtin", "--out", "there")
    assert ran.options == {"in_place": True, "require_claim": True, "engine": "builtin", "output": Path("there")}


def test_what_is_printed_is_neither_broken_nor_coloured_by_its_numbers(ran, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert ran("a.ipynb").stdout == f"12 of 'x' {'y' * 200}\n"


def zipped(folder, *names) -> Path:
    path = folder / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, json.dumps(name))
    return path


def test_notebooks_of_a_zip_are_run_under_their_own_names(ran, tmp_path):
    """Catches a copy called `0.ipynb`, and one of a name that overwrites the other."""
    zipped(tmp_path, "anna/mine.ipynb", "ben/mine.ipynb")
    ran("all.zip", "a.ipynb")
    assert ran.entries == [
        ("all.zip:anna/mine.ipynb", "mine.ipynb", '"anna/mine.ipynb"'),
        ("all.zip:ben/mine.ipynb", "mine.ipynb", '"ben/mine.ipynb"'),
        ("a.ipynb", "a.ipynb", "a"),
    ]
    assert len(set(ran.places)) == 3 and ran.places[2] == Path(), "what is no zip's is run where it lies"


def test_a_zip_that_cannot_be_read_is_handed_on_with_its_reason(ran, tmp_path):
    (tmp_path / "all.zip").write_text("no zip")
    assert ran("all.zip").returncode == 0
    ((name, _, error),) = ran.entries
    assert name == "all.zip" and "zip cannot be read" in str(error)


def test_a_zip_is_not_written_to(ran, tmp_path):
    zipped(tmp_path, "mine.ipynb")
    done = ran("--in-place", "a.ipynb", "all.zip")
    assert done.returncode == 2 and done.stderr.startswith("error  A zip is not written to. ")
    assert not hasattr(ran, "entries")


def test_files_that_were_not_looked_at_are_told_and_a_folder_without_notebooks_is_an_error(ran, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "essay.pdf").write_text("")
    done = ran("in", "a.ipynb")
    assert done.returncode == 0 and "not checked, not a notebook: 1 (in/essay.pdf)" in done.stdout
    done = ran("in")
    assert done.returncode == 2 and "There is no notebook in in: " in done.stderr


@pytest.mark.parametrize("missing", [("nbclient",), ("ipykernel",), ("nbclient", "ipykernel")])
def test_what_is_missing_to_run_notebooks_is_named_with_the_command_that_installs_it(missing, ran, monkeypatch):
    monkeypatch.setattr(report, "find_spec", lambda name: None if name in missing else name)
    done = ran("a.ipynb")
    assert done.returncode == 2 and not hasattr(ran, "entries")
    named = re.match(
        r"error  To run notebooks, (.*) must be installed, in the course's folder: (pip .*)\. The", done.stderr
    )
    assert named[1].split(" and ") == list(missing) and named[2] == 'pip install -e ".[run]"'
    assert done.stderr.endswith("The other commands work without.\n")
