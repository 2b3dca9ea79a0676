"""The identity of a blank edition. One with somebody's work in it is not overwritten."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from checker import __version__
from checker.__main__ import app
from checker.checking.check import check
from checker.editions.assign import FilledError, assign, blank, fill
from checker.editions.identity import exercises
from checker.outputs.drift import wanted
from checker.reading.convert import LIMIT, sections, to_markdown
from checker.reading.notebook import read

ROOT = Path(__file__).parents[3]
WORKED = sorted((ROOT / "notebooks").glob("*.ipynb"))


def edit(path: Path, find: str, replace: str) -> str:
    """Change the first cell that holds `find`, as an editor would; returns the file's text."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cell = next(cell for cell in notebook["cells"] if find in "".join(cell["source"]))
    source = "".join(cell["source"]).replace(find, replace, 1)
    cell["source"] = source.splitlines(keepends=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.fixture
def dots(tmp_path):
    return assign(ROOT / "notebooks" / "dots.ipynb", tmp_path)


RAISES = "raise NotImplementedError"
PLACE = 'exercise 1 in "def get_reward(prompts, completions, answer, **columns) ..." in Cell 4: Reward function'


@pytest.mark.parametrize(
    ("find", "replace", "said"),
    [
        (RAISES, "return [0.0] * len(completions)", PLACE),
        (RAISES, "rewards = []\n    " + RAISES, PLACE),
        ("Your answer here.", "It helped.", "an answer in Cell 8: Analysis"),
        ("    # end student code", "", PLACE),
    ],
    ids=["code", "code above the line that raises", "one answer of six", "a marker deleted"],
)
def test_an_edition_with_somebodys_work_in_it_is_refused(dots, find, replace, said):
    before = edit(dots, find, replace)
    with pytest.raises(FilledError, match=re.escape(f"{dots} is filled in: {said}")) as refused:
        assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)
    assert "--force" in str(refused.value)
    assert dots.read_text(encoding="utf-8") == before
    assign(ROOT / "notebooks" / "dots.ipynb", dots.parent, force=True)
    assert exercises(json.loads(dots.read_text(encoding="utf-8"))["cells"])["reward/1"]


def test_more_that_is_filled_in_is_counted(dots):
    """Catches one place that is named where a student changed ten."""
    for more, find in (("", RAISES), (" (and 1 more)", "Your answer here.")):
        edit(dots, find, "pass")
        with pytest.raises(
            FilledError, match=re.escape(f"is not as it was handed out{more}. Move ") + r".* written\.$"
        ):
            assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)


def test_a_cell_with_an_exercise_that_is_gone_counts_as_filled(dots):
    notebook = json.loads(dots.read_text(encoding="utf-8"))
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "reward"]
    dots.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(FilledError, match="reward, which is gone"):
        assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)


def test_an_edition_that_was_only_run_or_saved_by_jupyter_is_built_again(dots):
    """Catches a refusal over outputs and over sources kept as one text."""
    notebook = json.loads(dots.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["execution_count"] = 1
    dots.write_text(json.dumps(notebook), encoding="utf-8")
    assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)


def test_a_new_exercise_in_the_worked_notebook_is_no_filled_one(dots, tmp_path):
    """The edition is held to what it was handed out as, not to what the worked notebook has become."""
    worked = tmp_path / "worked" / "dots.ipynb"
    worked.parent.mkdir()
    worked.write_text((ROOT / "notebooks" / "dots.ipynb").read_text(encoding="utf-8"), encoding="utf-8")
    edit(worked, "# TODO: ", "# TODO: now with care, ")
    assign(worked, dots.parent)
    assert "now with care" in dots.read_text(encoding="utf-8")


def test_an_edition_from_before_editions_said_what_they_are_is_compared_with_the_new_one(dots):
    notebook = json.loads(dots.read_text(encoding="utf-8"))
    del notebook["metadata"]["course"]
    dots.write_text(json.dumps(notebook), encoding="utf-8")
    assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)
    for course in ("no table", {"exercises": ["no table"]}):
        notebook["metadata"]["course"] = course
        dots.write_text(json.dumps(notebook), encoding="utf-8")
        edit(dots, RAISES, "pass")
        with pytest.raises(FilledError):
            assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)


def test_what_cannot_be_read_may_be_work_and_is_kept(dots):
    """A `git pull` that conflicted leaves markers, and a student's answers between them."""
    dots.write_text("<<<<<<< HEAD\n")
    with pytest.raises(FilledError, match="merge-conflict marker"):
        assign(ROOT / "notebooks" / "dots.ipynb", dots.parent)


def test_where_one_edition_is_refused_none_is_written(dots):
    """Catches half of the editions new and half of them old."""
    edit(dots, RAISES, "pass")
    arguments = [str(ROOT / "notebooks" / name) for name in ("poker.ipynb", "dots.ipynb")]
    done = CliRunner().invoke(app, ["assign", *arguments, "-o", str(dots.parent)])
    assert done.exit_code == 2 and not (dots.parent / "poker.ipynb").exists()
    done = CliRunner().invoke(app, ["assign", *arguments, "-o", str(dots.parent), "--force"])
    assert done.exit_code == 0 and (dots.parent / "poker.ipynb").exists()


@pytest.mark.parametrize("path", WORKED, ids=lambda p: p.stem)
def test_editions_carry_version_and_exercises_and_count_as_before(path, tmp_path):
    """Metadata is no part of what is handed in: a filled copy is as long and as right as the worked notebook's text."""
    content = json.loads(path.read_text(encoding="utf-8"))
    edition = blank(content, "x")
    course = edition["metadata"]["course"]
    code = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    markers = sum(source.count("# student code here") for source in code)
    assert course["version"] == __version__
    assert sum(not key.endswith("/answers") for key in course["exercises"]) == markers > 0
    assert all(re.fullmatch(r"[0-9a-f]{12}", value) for value in course["exercises"].values())
    assert course == blank(content, "y")["metadata"]["course"]

    copy = tmp_path / path.name
    reports = []
    for metadata in (edition["metadata"], {}):
        copy.write_text(json.dumps(fill(edition, content) | {"metadata": metadata}), encoding="utf-8")
        reports.append((check(copy), to_markdown(read(copy))))
    assert reports[0] == reports[1]


def test_the_version_is_the_same_everywhere():
    """Catches a release in which one file was forgotten."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "checker.__version__"}
    assert f'version: "{__version__}"' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## .*{re.escape(__version__)}", changes, re.MULTILINE)


STUDENTS = 10_000  # characters


@pytest.mark.parametrize("path", WORKED, ids=lambda p: p.stem)
def test_a_quarter_of_what_may_be_handed_in_is_the_students(path):
    """Catches a chapter that leaves a student no room: an edition and the outputs that it makes, none of them an answer."""
    edition = read(ROOT / "notebooks" / "student" / path.name)
    given = sum(len(section.source) + 1 for section in sections(edition))
    given += sum(len(section.output) for section in sections(read(path)))
    assert given <= LIMIT - STUDENTS, f"{given:,} characters are given; {LIMIT - STUDENTS:,} leave {STUDENTS:,}"


# The handout asks for these to be printed: how many parameters, loss and reward along the way.
TO_BE_PRINTED = (re.compile(r"[\d,]+ parameters"), re.compile(r"average (?:reward|loss)|\bloss [+-]?\d"))
REWARDS = (re.compile(r"^baseline reward +\d"), re.compile(r"^fine-tuned reward +\d"))


@pytest.mark.parametrize("path", WORKED, ids=lambda p: p.stem)
def test_what_the_handout_asks_to_print_is_whole_in_what_is_handed_in(path, tmp_path):
    """Catches a log line or a reward behind the place where the output of a cell is cut, and a table cut in its rows."""
    content = json.loads(path.read_text(encoding="utf-8"))
    copy = tmp_path / path.name
    copy.write_text(json.dumps(fill(blank(content, "x"), content)), encoding="utf-8")
    notebook = read(copy)
    handed_in = Counter(line for section in sections(notebook) for line in section.output.split("\n"))
    printed = [line for cell in notebook.code_cells for line in cell.text_output.split("\n")]
    has_baseline = "baseline reward" in wanted(read(path))  # not where methods are compared with each other
    for asked in TO_BE_PRINTED + (REWARDS if has_baseline else ()):
        lines = Counter(line.rstrip() for line in printed if asked.search(line))
        assert lines, f"no line has {asked.pattern}"
        assert not lines - handed_in, f"{asked.pattern} is cut"
    assert [section.cell.source.split("\n")[0] for section in sections(notebook) if section.cut] == []


def test_an_edition_behind_a_link_is_somebodys_work_too(dots, tmp_path):
    """Catches work that is overwritten because a link to it lies where the edition goes."""
    edit(dots, RAISES, "return [0.0] * len(completions)")
    work = tmp_path / "work.ipynb"
    dots.rename(work)
    dots.symlink_to(work)
    before = work.read_text(encoding="utf-8")
    with pytest.raises(FilledError, match="is filled in"):
        assign(ROOT / "notebooks" / "dots.ipynb", tmp_path)
    assert dots.is_symlink() and work.read_text(encoding="utf-8") == before
