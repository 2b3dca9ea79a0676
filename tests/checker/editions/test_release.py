"""The release for students: everything that is needed, no worked notebook, nothing of a class."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from checker.editions.assign import solution_lines
from checker.editions.release import Released, ReleaseError, release, tried
from checker.reading.notebook import parse
from checker.reading.website import website
from checker.setup.environment import ROOT


def test_a_release_holds_no_worked_notebook_and_no_solution(tmp_path):
    """Catches the key handed out with the exercises, and outputs of the worked notebooks that tell the results."""
    released = release(ROOT, tmp_path / "course")
    notebooks = sorted(path.relative_to(released.folder) for path in released.folder.rglob("*.ipynb"))
    notebooks = [path for path in notebooks if path.parent.name != "examples"]
    assert [path.name for path in notebooks] == sorted(released.notebooks)
    assert {path.parent.as_posix() for path in notebooks} == {"notebooks/student"}
    for path in notebooks:
        content = parse(released.folder / path)
        shown = {line.strip() for cell in content["cells"] for line in "".join(cell["source"]).split("\n")}
        assert not solution_lines(parse(ROOT / "notebooks" / path.name)) & shown
        assert not any(cell.get("outputs") for cell in content["cells"])
    assert [path.name for path in (released.folder / "benchmarks").iterdir()] == ["sweeps"]
    for name in ("tests", "graded", ".venv", ".git"):
        assert not (released.folder / name).exists()


NAMED = re.compile(r"\]\(([\w./-]+)[#)]|`((?:notebooks|benchmarks|shared|checker|models|docs)/[\w./-]*\w)`")


def test_every_file_that_a_released_text_names_is_there(tmp_path):
    """Catches a link, or an example that a notebook tells of, that leads nowhere in what a student has."""
    folder = release(ROOT, tmp_path / "course").folder
    texts = {folder / "README.md": (folder / "README.md").read_text(encoding="utf-8")}
    for path in (folder / "notebooks" / "student").glob("*.ipynb"):
        # The first cells tell from which worked notebook an edition was made: that one stays with the instructor.
        cells = [cell for cell in parse(path)["cells"] if not cell["id"].endswith("-generated")]
        texts[path] = "\n".join("".join(cell["source"]) for cell in cells)
    named = {(path, match[1], match[2]) for path, text in texts.items() for match in NAMED.finditer(text)}
    missing = {
        (path.name, link or file)
        for path, link, file in named
        if not ((path.parent / link).exists() if link else (folder / file).exists())
    }
    assert named and not missing


def test_a_release_lists_its_notebooks_in_reading_order(tmp_path):
    """Catches a student who begins with the first of the alphabet, which builds on four others."""
    released = release(ROOT, tmp_path / "course")
    assert released.notebooks[0] == "dots.ipynb"
    assert list(released.notebooks) == [page.name for page in website(ROOT).notebooks]
    text = (released.folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^- `(\w+)`$", text, re.MULTILINE) == [Path(name).stem for name in released.notebooks]


def test_every_command_of_a_released_makefile_works_there(tmp_path):
    """Catches commands that stop for want of tests or worked notebooks, or train the embedded model anew for an hour."""
    folder = release(ROOT, tmp_path / "course").folder
    said = subprocess.run(["make", "-s", "help"], cwd=folder, capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  make (\S+)", said, re.MULTILINE)
    assert commands == ["help", "setup", "start", "lab", "report", "clean"]
    for command in commands:
        subprocess.run(["make", "-n", command], cwd=folder, capture_output=True, check=True)
    asked = subprocess.run(["make", "-n", "report"], cwd=folder, capture_output=True, text=True, check=True).stdout
    assert "work/dots.ipynb" in asked


def test_an_edition_that_somebody_filled_in_is_not_released(tmp_path, good):
    """Catches `notebooks/student` copied as it lies there, with an instructor's own trial in it, and Jupyter's copies."""
    root = tmp_path / "root"
    (root / "notebooks" / "student").mkdir(parents=True)
    source = "# Cell 5: x\ndef f():\n    # student code here\n    # TODO: one (1 point)\n    return 12345678\n    # end student code"
    good["cells"][5]["source"] = source
    (root / "notebooks" / "a.ipynb").write_text(json.dumps(good))
    (root / "notebooks" / "student" / "a.ipynb").write_text(json.dumps(good))
    for left in ("shared/__pycache__/a.pyc", "shared/.ipynb_checkpoints/a-checkpoint.ipynb", "shared/a.py"):
        (root / left).parent.mkdir(parents=True, exist_ok=True)
        (root / left).write_text("")
    released = release(root, tmp_path / "course")
    assert [path.name for path in (released.folder / "shared").rglob("*")] == ["a.py"]
    assert "12345678" not in (released.folder / "notebooks" / "student" / "a.ipynb").read_text()


def test_nothing_is_written_over(tmp_path):
    """Catches a release mixed with an older one, whose files stay among the new."""
    (tmp_path / "x").write_text("mine")
    with pytest.raises(ReleaseError, match="holds something already"):
        release(ROOT, tmp_path)


@pytest.mark.slow
def test_a_release_works_from_where_it_lies(tmp_path):
    """Catches a helper or a file that was left out and that a notebook needs."""
    assert tried(release(ROOT, tmp_path / "course")) == ""


def test_a_release_is_tried_where_it_lies(tmp_path):
    """Catches a trial of the course itself, which has everything: what was left out of the release is then not missed."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\npwd > {tmp_path}/where\necho "Not filled in yet: $PYTHONPATH."\n')
    python.chmod(0o755)
    folder = tmp_path / "course"
    folder.mkdir()
    assert tried(Released(folder, ("dots.ipynb",), 1), str(python)) == ""
    assert (tmp_path / "where").read_text().strip() == str(folder)
