"""The record of the chapters: it names every notebook, and what is made from it or belongs to one of it is there."""

from pathlib import Path

import pytest

from checker.editions.lists import LISTS, lists, with_lists
from checker.outputs.chapters import CHAPTERS, chapters, chapters_in
from checker.reading.notebook import Unreadable

ROOT = Path(__file__).parents[1]
COURSE = chapters(ROOT)
# Folders of which each has a file for every chapter, and none besides but what is named here.
OF_EACH = {
    "notebooks/*.ipynb": set(),
    "notebooks/student/*.ipynb": set(),
    "notebooks/questions/*.yml": set(),
    "tests/claims/*.yml": {"second_task"},  # of an example
    "tests/claims/causes/*.yml": set(),
}


@pytest.mark.parametrize("pattern", OF_EACH)
def test_every_chapter_has_its_file_and_every_file_its_chapter(pattern):
    """Catches a chapter without a blank edition, questions, origins or causes, and a file whose chapter was renamed."""
    found = {path.stem for path in ROOT.glob(pattern)} - OF_EACH[pattern]
    names = {chapter.name for chapter in COURSE}
    assert found == names, f"{CHAPTERS} and {pattern} differ in {found ^ names}; `checker new` makes such a file"


def test_what_belongs_to_some_chapters_has_the_name_of_one():
    """Catches exercises and readers' functions of a chapter that was renamed: nothing would ask for them."""
    exercises = {path.parent.name for path in ROOT.glob("shared/exercises/catalogue/*/*.py")} - {"common"}
    assert exercises <= {chapter.name for chapter in COURSE}


def test_the_lists_are_those_of_today():
    """Catches a chapter that was added, renamed or moved in the record alone, and a list that was edited by hand."""
    made = lists(ROOT, COURSE)
    assert len(made) == len(LISTS)
    stale = [file.name for file, text in made.items() if file.read_text(encoding="utf-8") != text]
    assert not stale, "run `python -m checker.editions.lists`"


def test_only_the_lines_between_the_marks_are_made():
    """Catches settings that are written again without their comments, and lines that lose their place."""
    text = (
        "a: 1 # kept\n  # rendered, made from notebooks/chapters.yml\n  - notebooks/old.ipynb\n  # end of rendered\nb:\n"
        "    # sidebar, made from notebooks/chapters.yml\n    # end of sidebar\n# kept\n"
    )
    course = chapters_in(
        "new: {teaches: t, measured: m, before: '1', after: '2', short: 'A, briefly'}\n"
        "other: {teaches: t, measured: m, before: '1', after: '2'}\n"
    )
    assert with_lists("_quarto.yml", text, course).splitlines() == [
        "a: 1 # kept",
        "  # rendered, made from notebooks/chapters.yml",
        "  - notebooks/new.ipynb",
        "  - notebooks/other.ipynb",
        "  # end of rendered",
        "b:",
        "    # sidebar, made from notebooks/chapters.yml",
        '    - {text: "A, briefly", href: notebooks/new.ipynb}',
        "    - notebooks/other.ipynb",
        "    # end of sidebar",
        "# kept",
    ]


@pytest.mark.parametrize("file", LISTS)
def test_a_list_without_a_place_is_told(file):
    """Catches a chapter that is rendered and in no sidebar, as somebody removed a comment."""
    text = (ROOT / file).read_text(encoding="utf-8")
    name = next(iter(LISTS[file]))
    for broken in (text.replace(f"{name}, made from", f"{name} from"), text + text):
        with pytest.raises(Unreadable, match=f"{file} needs one place for each list"):
            with_lists(file, broken, COURSE)


@pytest.mark.parametrize("text", ["dots: {}", "dots: {measured: m, weight: 1}", "dots: [", "- dots", "dots: 1"])
def test_a_record_that_lacks_a_line_or_has_an_unknown_one_is_told(text):
    """Catches a misspelt key that is passed over, and a traceback of the reader of YAML."""
    with pytest.raises(Unreadable, match="is not a list of chapters"):
        chapters_in(text)


def test_a_course_without_a_record_has_no_chapters(tmp_path):
    assert chapters(tmp_path) == [] and lists(tmp_path, []) == {}
