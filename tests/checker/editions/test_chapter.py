"""A new chapter: what `checker new` writes is in the course's form, and it touches nothing else."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from checker.checking.check import check
from checker.editions.assign import edition
from checker.editions.chapter import TEMPLATE, ChapterError, new_chapter
from checker.outputs.chapters import chapters
from checker.reading.layout import title_of
from checker.reading.notebook import Unreadable, read
from checker.reading.website import website
from tests.checker.command_line import PROJECT, checker
from tests.claims import origins
from tests.test_notebook_form import faults_of_form, opens_on_its_title


@pytest.fixture
def course(tmp_path) -> Path:
    """A course with one worked notebook, the record of its chapters and what lists them."""
    (tmp_path / "notebooks").mkdir()
    for name in ("notebooks/dots.ipynb", "notebooks/chapters.yml", "_quarto.yml", "README.md"):
        shutil.copy(PROJECT / name, tmp_path / name)
    return tmp_path


def test_a_chapter_is_nine_cells_in_form_with_its_places_in_the_course(course):
    """Catches a chapter that the site does not show, and one whose form the tests of chapters would refuse."""
    notebook, claims, causes, *listed = new_chapter(course, "word_order")
    assert len(read(notebook).cells) == 9 and faults_of_form(notebook) == []
    errors = [finding.code for finding in check(notebook).findings if finding.level == "error"]
    assert set(errors) <= {"X001"}  # it was not run
    made = edition(notebook, course / "student")
    assert made.taken_out == "1 exercise, 3 answers" and made.warnings == ()
    assert opens_on_its_title(json.loads(notebook.read_text(encoding="utf-8")))
    assert title_of(read(notebook)) == "Word order" and "TITLE" not in notebook.read_text(encoding="utf-8")
    page = Path("notebooks/word_order.ipynb")
    beside = [course / "tests/claims/word_order.yml", course / "tests/claims/causes/word_order.yml"]
    assert [notebook, claims, causes] == [course / page, *beside]
    assert listed == [course / name for name in ("notebooks/chapters.yml", "_quarto.yml", "README.md")]
    assert all(
        isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), kind)
        for file, kind in zip(beside, (list, dict), strict=True)
    )
    assert [made.notebook for made in chapters(course)][-1] == page in website(course).pages
    assert [file.read_text(encoding="utf-8").count(f"{page.as_posix()}") for file in listed] == [0, 2, 1]
    code = "".join(cell.source for cell in read(notebook).code_cells)
    assert all(code.count(found) == times for found, _, times in chapters(course)[-1].cuts)


@pytest.mark.parametrize("name", ["Word", "a b", "../x", "a-b", "1st", "", "class", "dots", "poker"])
def test_a_name_that_is_none_or_taken_changes_nothing(course, name):
    """Catches a chapter that replaces another, and a path for a name."""
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    with pytest.raises(ChapterError, match="cannot name a chapter|is there already|has an entry"):
        new_chapter(course, name)
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


def test_settings_without_the_lists_are_told_and_nothing_is_written(course):
    (course / "_quarto.yml").write_text("website: {}\n", encoding="utf-8")
    with pytest.raises(Unreadable, match="one place for each list"):
        new_chapter(course, "word_order")
    assert not (course / "notebooks" / "word_order.ipynb").exists()


def test_the_next_steps_are_told_and_a_wrong_name_in_a_sentence(course):
    done = checker("new", "word_order", cwd=course)
    assert done.returncode == 0 and "checker report --in-place notebooks/word_order.ipynb" in done.stdout
    assert done.stdout.splitlines()[0] == "notebooks/word_order.ipynb"
    done = checker("new", "word_order", cwd=course)
    assert done.returncode == 2 and "is there already" in done.stderr


def test_the_claims_file_is_about_the_numbers_of_the_analysis(course, monkeypatch):
    """Catches a first file of claims that the tests of claims refuse."""
    notebook, claims, *_ = new_chapter(course, "word_order")
    monkeypatch.setattr(origins, "FOLDER", claims.parent)
    found = read(notebook)
    analysis = found.cells[-1].source
    assert origins.faults(analysis, origins.sections_of(found), origins.origins_of("word_order")) == []


@pytest.mark.slow
def test_the_report_on_a_new_chapter_is_green(tmp_path):
    """Catches a library that changed under the first notebook of an author: it runs, learns, and nothing is found."""
    path = tmp_path / "word_order.ipynb"
    shutil.copy(TEMPLATE, path)
    done = checker("report", "--require-claim", path, "-o", tmp_path / "build")
    assert done.returncode == 0, done.stdout + done.stderr
    executed = check(tmp_path / "build" / path.name)
    assert executed.findings == () or not list(executed.findings)
    assert "✓" in json.dumps(json.loads((tmp_path / "build" / path.name).read_text()), ensure_ascii=False)
