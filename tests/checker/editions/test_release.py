"""The release for students: everything that is needed, no worked notebook, nothing of a class."""

import json
import re
import shutil
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


@pytest.fixture
def small(tmp_path, good) -> Path:
    """A course of two notebooks, with everything in it that is released and much that is not."""
    root = tmp_path / "root"
    kept = [
        "checker/a.py",
        "shared/b/c.py",
        "models/course-lm/m.bin",
        "benchmarks/sweeps/s.json",
        "notebooks/examples/e.yml",
    ]
    kept += ["pyproject.toml", "requirements.txt", "constraints.txt", ".gitignore"]
    kept += ["LICENSE", "LICENSE-prose", "NOTICE", "CITATION.cff"]
    left = [
        "checker/__pycache__/a.pyc",
        "shared/b/.ipynb_checkpoints/c.py",
        "shared/x.egg-info/PKG",
        "models/course-lm/.DS_Store",
        "models/fetched/m.bin",
    ]
    left += ["checker/editions/chapter.ipynb", "tests/t.py", "benchmarks/learning.py", "graded/roster.csv", "README.md"]
    for name in kept + left:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    (root / "Makefile").write_text("setup:\n\n\n# What students get ends here\ntest:\n", encoding="utf-8")
    for name in ("a", "b"):
        (root / "notebooks" / f"{name}.ipynb").write_text(json.dumps(good), encoding="utf-8")
    return root


def test_a_release_holds_what_students_need_and_nothing_else(small, tmp_path):
    """Catches a licence or a file of settings that was forgotten, and an instructor's files among those of students."""
    released = release(small, tmp_path / "course")
    files = {path.relative_to(released.folder).as_posix() for path in released.folder.rglob("*") if path.is_file()}
    assert files == {
        "checker/a.py", "shared/b/c.py", "models/course-lm/m.bin", "benchmarks/sweeps/s.json", "notebooks/examples/e.yml",
        "pyproject.toml", "requirements.txt", "constraints.txt", ".gitignore", "Makefile",
        "LICENSE", "LICENSE-prose", "NOTICE", "CITATION.cff",
        "README.md", "notebooks/student/a.ipynb", "notebooks/student/b.ipynb",
    }  # fmt: skip
    assert released.files == len(files) and released.notebooks == ("a.ipynb", "b.ipynb")
    assert (released.folder / "Makefile").read_text(encoding="utf-8") == "setup:\n"
    text = (released.folder / "README.md").read_text(encoding="utf-8")
    assert "\n- `a`\n- `b`\n" in text and "NOTEBOOKS" not in text
    assert parse(released.folder / "notebooks/student/a.ipynb")["cells"][0]["cell_type"] == "markdown"


def test_a_course_that_lacks_a_file_is_released_without_it(small, tmp_path):
    """Catches a course of somebody's own, without examples or a Makefile, that cannot be released."""
    (small / "Makefile").unlink()
    shutil.rmtree(small / "notebooks" / "examples")
    released = release(small, tmp_path / "course")
    assert not (released.folder / "Makefile").exists() and (released.folder / "shared" / "b" / "c.py").exists()


def test_notebooks_are_in_the_order_of_the_course_and_those_that_it_does_not_list_come_last(small, tmp_path):
    """Catches a notebook that is not released because it is in no list."""
    record = "b: {teaches: t, measured: m, before: '1', after: '2'}\n"
    (small / "notebooks" / "chapters.yml").write_text(record, encoding="utf-8")
    assert release(small, tmp_path / "course").notebooks == ("b.ipynb", "a.ipynb")


def test_a_release_is_not_written_into_what_it_copies(small):
    """Catches a copy that copies itself, without end."""
    with pytest.raises(ReleaseError, match="lies inside what is copied"):
        release(small, small / "shared" / "b" / "course")
    assert not (small / "shared" / "b" / "course").exists()


def test_a_release_may_be_written_into_an_empty_folder(small, tmp_path):
    (tmp_path / "course").mkdir()
    assert release(small, tmp_path / "course").files == 17


def test_a_trial_runs_the_first_notebook_and_leaves_no_trace(tmp_path, monkeypatch):
    """Catches a trial with the course itself on the path, a report among the students' files, and compiled files."""
    monkeypatch.setenv("PYTHONPATH", "/course")
    folder = tmp_path / "course"
    (folder / "shared" / "__pycache__").mkdir(parents=True)
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\n[ -z "$PYTHONPATH" ] && [ "$1 $2 $3 $4 $5" = "-m checker report notebooks/student/b.ipynb -o" ]'
        ' && [ -d "$6" ] && touch "$6/b.html" && echo "Not filled in yet: reward"\n'
    )
    python.chmod(0o755)
    assert tried(Released(folder, ("b.ipynb", "a.ipynb"), 1), str(python)) == ""
    assert [path.name for path in folder.rglob("*")] == ["shared"]


def test_a_trial_that_fails_says_what_was_said_last(tmp_path):
    """Catches a release that is called right although its notebook stops elsewhere, and a cause that is not told."""
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "well begun"\necho "No module\nnamed shared.x" >&2\nexit 1\n')
    python.chmod(0o755)
    said = tried(Released(tmp_path, ("b.ipynb",), 1), str(python))
    assert "b.ipynb did not stop" in said and said.endswith(": well begun No module named shared.x")


def test_a_trial_that_takes_for_ever_is_ended(tmp_path, monkeypatch):
    def run(command, timeout=None, **options):
        assert timeout, "this waits for ever"
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    assert "b.ipynb ran for more than 15 minutes" in tried(Released(tmp_path, ("b.ipynb",), 1))


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
