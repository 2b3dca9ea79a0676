"""`checker assign`: where editions go, what is overwritten, and what is said. The editions themselves are made elsewhere."""

from pathlib import Path

import pytest

from checker.editions import assign, nbgrader, otter
from checker.editions.assign import Edition, FilledError, MarkerError
from checker.reading.notebook import Unreadable
from tests.checker.command_line import checker


@pytest.fixture
def made(monkeypatch, tmp_path):
    """A function that assigns notebooks of which these editions are made, by name; and how each was asked for."""

    def go(editions: dict[str, Edition | Exception], *options):
        def edition(path, folder, *how):
            found = editions[path.name]
            asked.append((path.name, folder, *how))
            if isinstance(found, Exception):
                raise found
            return found

        asked.clear()
        monkeypatch.setattr(assign, "edition", edition)
        monkeypatch.setattr(assign, "edition_for", edition)
        return checker("assign", *editions, *options, cwd=tmp_path)

    asked = go.asked = []
    return go


def an_edition(name="a.ipynb", exercises=2, answers=0, warnings=()) -> Edition:
    return Edition(Path("out", name), f"text of {name}", exercises, answers, warnings)


@pytest.mark.parametrize(
    ("options", "folder"), [([], "notebooks/student"), (["-o", "mine"], "mine"), (["--output", "mine"], "mine")]
)
def test_a_blank_edition_goes_to_the_students_folder_or_where_it_is_told(options, folder, made, tmp_path):
    """Catches an edition over the notebook that somebody has filled in, because nobody asked."""
    done = made({"a.ipynb": an_edition()}, *options)
    assert (done.returncode, done.stderr) == (0, "") and made.asked == [("a.ipynb", Path(folder), False)]
    assert done.stdout == f"{Path('out/a.ipynb')}  taken out: 2 exercises, 0 answers\n"
    assert (tmp_path / "out" / "a.ipynb").read_text() == "text of a.ipynb"
    made({"a.ipynb": an_edition()}, *options, "--force")
    assert made.asked == [("a.ipynb", Path(folder), True)]


@pytest.mark.parametrize(("grader", "written"), [("nbgrader", nbgrader.written), ("otter", otter.written)])
def test_an_edition_for_another_grader_is_written_by_its_own_rules_and_apart(grader, written, made):
    """Catches solutions in the folder that is handed out."""
    done = made({"a.ipynb": an_edition()}, "--for", grader)
    assert made.asked == [("a.ipynb", Path("build", grader), written)]
    assert "in markers: 2 exercises" in done.stdout
    made({"a.ipynb": an_edition()}, "--for", grader, "-o", "mine")
    assert made.asked == [("a.ipynb", Path("mine"), written)]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FilledError("It is [filled] in."), "error  It is [filled] in."),
        (MarkerError("A marker is open."), "error  A marker is open."),
        (Unreadable("It is none."), "error  b.ipynb: It is none."),
    ],
)
def test_what_cannot_be_made_is_said_and_none_is_written(error, said, made, tmp_path):
    """Catches half of the editions of a course in their place."""
    done = made({"a.ipynb": an_edition(), "b.ipynb": error})
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", said)
    assert not any(tmp_path.iterdir())


def test_a_notebook_in_which_nothing_is_to_be_filled_in_is_refused_unless_that_is_meant(made, tmp_path):
    """Catches a worked notebook handed out because its markers were forgotten."""
    nothing = {"a.ipynb": an_edition(exercises=0)}
    done = made(nothing)
    assert done.returncode == 2 and not any(tmp_path.iterdir())
    assert done.stderr.startswith("error  a.ipynb has no exercise: ")
    assert "or in an answer's markers. Mark what students write, or say --without-exercises. Nothing" in done.stderr
    assert done.stderr.endswith("Nothing was written.\n")
    assert made(nothing, "--without-exercises").returncode == 0
    assert made({"a.ipynb": an_edition(exercises=0, answers=1)}).returncode == 0


def test_what_looks_like_an_answer_is_a_warning(made):
    done = made({"a.ipynb": an_edition(warnings=("Look at [this].",))})
    assert (done.returncode, done.stderr) == (0, "warning  Look at [this].\n")
