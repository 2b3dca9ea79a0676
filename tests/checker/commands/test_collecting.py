"""`checker grades`, `checker new` and `checker release`: what is printed where, and the status. The work is done elsewhere."""

from pathlib import Path

import pytest

from checker.editions import chapter, release
from checker.editions.chapter import ChapterError
from checker.editions.release import Released, ReleaseError
from checker.points import forms
from checker.reading.markers import MarkerError
from checker.reading.notebook import Unreadable
from checker.setup import environment
from tests.checker.command_line import checker


def raising(error):
    def fail(*arguments):
        raise error

    return fail


@pytest.fixture
def read(monkeypatch):
    """A function that sets what is read of a folder of forms: the forms, those chosen of several, those damaged."""

    def reads(chosen=(), damaged=()):
        monkeypatch.setattr(forms, "read_forms", lambda folder: ([folder], list(chosen), list(damaged)))
        monkeypatch.setattr(forms, "merged", lambda found: [*found, "merged"])
        monkeypatch.setattr(forms, "table", lambda found: f"table of {found[0]}, {found[1]}\n")

    return reads


def test_forms_become_a_table_that_is_printed_or_written(read, tmp_path):
    read()
    text = f"table of {tmp_path}, merged\n"
    done = checker("grades", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, text, "")
    done = checker("grades", tmp_path, "-o", tmp_path / "out.csv")
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'out.csv'}: 2 notebooks\n")
    assert (tmp_path / "out.csv").read_text() == text


def test_what_was_chosen_and_what_is_damaged_is_told_beside_the_table(read, tmp_path):
    """Catches a sentence among the lines of the CSV, and a damaged form that a script does not notice."""
    read(chosen=["The later counts."])
    done = checker("grades", tmp_path)
    assert (done.returncode, done.stderr) == (0, "The later counts.\n") and "later" not in done.stdout
    read(damaged=["x is no form."])
    done = checker("grades", tmp_path)
    assert (done.returncode, done.stderr) == (2, "error  x is no form.\n") and done.stdout.startswith("table")


def test_a_folder_of_forms_that_is_none_is_a_sentence(tmp_path):
    done = checker("grades", tmp_path / "nowhere")
    assert done.returncode == 2 and done.stderr.startswith("error  ") and "nowhere" in done.stderr


@pytest.fixture
def in_course(monkeypatch, tmp_path):
    """A function that sets what a new chapter is made of, and calls the command."""

    def go(made):
        def new_chapter(root, name):
            asked.append((root, name))
            return made() if callable(made) else made

        monkeypatch.setattr(chapter, "new_chapter", new_chapter)
        return checker("new", "word_order", cwd=tmp_path)

    asked = go.asked = []
    return go


def test_the_files_of_a_new_chapter_are_listed_and_what_comes_next(in_course):
    """Catches a next step that names another file than the notebook."""
    done = in_course([Path("notebooks/word_order.ipynb"), Path("_quarto.yml")])
    assert done.returncode == 0 and in_course.asked == [(Path(), "word_order")]
    lines = done.stdout.splitlines()
    assert lines[:4] == ["notebooks/word_order.ipynb", "_quarto.yml", "", "Next:"]
    commands = [line.strip() for line in lines if line.startswith("       ")]
    assert [command.split()[0] for command in commands] == ["python", "python", "python", "make"]
    assert all(command.endswith(" notebooks/word_order.ipynb") for command in commands[:2])


@pytest.mark.parametrize("error", [ChapterError("It is there."), Unreadable("It is there.")])
def test_a_chapter_that_cannot_be_made_is_a_sentence(error, in_course):
    done = in_course(raising(error))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error  It is there.\n")


@pytest.fixture
def released(monkeypatch, tmp_path):
    """A function that calls `checker release`, of which this comes, and a trial that says this."""

    def go(made, problem="", *arguments):
        def releases(root, output):
            asked.append((root, output))
            return made() if callable(made) else made

        def tries(folder):
            asked.append(folder)
            return problem

        asked.clear()
        monkeypatch.setattr(release, "release", releases)
        monkeypatch.setattr(release, "tried", tries)
        return checker("release", *arguments, cwd=tmp_path)

    asked = go.asked = []
    return go


MADE = Released(Path("course-student"), ("dots.ipynb", "words.ipynb"), 123)


def test_a_release_is_tried_unless_that_is_refused(released):
    """Catches an edition that is handed out and does not run."""
    done = released(MADE)
    assert (done.returncode, done.stderr) == (0, "")
    assert released.asked == [(environment.ROOT, Path("course-student")), MADE]
    assert done.stdout.splitlines() == [
        "course-student: 123 files, 2 notebooks",
        "dots.ipynb was run from there, to its first exercise.",
    ]
    done = released(MADE, "", "--no-trial", "-o", "out")
    assert released.asked == [(environment.ROOT, Path("out"))]
    assert done.stdout == "out: 123 files, 2 notebooks\n"


def test_a_trial_that_fails_is_said_and_is_a_failure(released):
    done = released(MADE, "dots.ipynb did not stop.")
    assert (done.returncode, done.stderr) == (1, "error  dots.ipynb did not stop.\n") and "was run" not in done.stdout


@pytest.mark.parametrize("error", [ReleaseError("It is full."), MarkerError("It is full."), Unreadable("It is full.")])
def test_what_cannot_be_released_is_a_sentence(error, released):
    done = released(raising(error))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error  It is full.\n")
    assert len(released.asked) == 1
