"""`checker render`: which pages are asked for, when there is an index, and what is said. Pages are made elsewhere."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.checking.check import Report
from checker.pages import rendering
from checker.points.rubric import RUBRIC
from checker.reading.notebook import Unreadable
from checker.rules.findings import Finding
from tests.checker.command_line import checker

GOOD = Report("a.ipynb", "pass", ())
BROKEN = Report("b.ipynb", "unreadable", (Finding("U001", "error", None, "the file cannot be read", "No [JSON]."),))


@pytest.fixture
def made(monkeypatch, tmp_path):
    """In the place of what makes pages: gives these reports and pages, and keeps what it was asked for."""
    given = SimpleNamespace(pages=[(GOOD, Path("build", "in x", "a.html"))], rows=[], note="", error=None)

    def render_all(entries, output, engine, rubric, *, say, ignore):
        given.asked = (len(entries), output, engine, rubric, ignore)
        if given.note:
            say(given.note)
        if given.error:
            raise given.error
        return iter(given.pages)

    def index(rows):
        given.rows = rows
        return "an index"

    monkeypatch.setattr(rendering, "render_all", render_all)
    monkeypatch.setattr(rendering, "index", index)
    (tmp_path / "a.ipynb").write_text("{}")
    given.run = lambda *arguments: checker("render", *arguments, cwd=tmp_path)
    given.index = tmp_path / "build" / "index.html"
    return given


@pytest.mark.parametrize("engine", ["auto", "quarto", "builtin"])
def test_pages_are_asked_for_as_the_command_line_says(engine, made):
    done = made.run("a.ipynb")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == f"{Path('build/in x/a.html')}\n"
    assert made.asked == (1, Path("build"), "auto", RUBRIC, [])
    made.pages = []
    made.run("a.ipynb", "-o", "out", "--engine", engine, "--rubric", "r.md", "--ignore", "p009")
    assert made.asked == (1, Path("out"), engine, Path("r.md"), ["P009"])


def test_one_notebook_has_no_index(made):
    made.run("a.ipynb")
    assert not made.index.exists()


def test_several_notebooks_and_a_folder_have_an_index_that_leads_to_the_pages(made, tmp_path):
    """Catches a link that a space or an accent breaks, and a class of one without its index."""
    made.run(".")
    assert made.rows == [(GOOD, "in%20x/a.html")] and made.index.read_text() == "an index"
    made.index.unlink()
    made.pages.append((GOOD, Path("build", "b.html")))
    done = made.run("a.ipynb", "a.ipynb")
    assert [link for _, link in made.rows] == ["in%20x/a.html", "b.html"]
    assert made.index.exists() and done.stdout.endswith(f"{Path('build/index.html')}\n")


def test_a_zip_has_an_index_whatever_its_name(made, tmp_path):
    (tmp_path / "CLASS.ZIP").write_bytes(b"")
    made.run("CLASS.ZIP")
    assert made.index.exists()


def test_a_notebook_without_a_page_is_told_and_stands_in_the_index(made):
    """Catches a broken submission that nobody hears of."""
    made.pages.append((BROKEN, None))
    done = made.run(".")
    assert done.returncode == 2 and made.rows[1] == (BROKEN, "")
    assert done.stderr == "error  b.ipynb: No [JSON].\n"


def test_remarks_and_files_that_were_not_looked_at_are_told_beside_the_results(made, tmp_path, monkeypatch):
    """Catches a remark among the paths that a script reads, in colours, or broken in two."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    made.note = "Quarto is too old."
    name = "12 of 'x' " * 15 + ".pdf"
    (tmp_path / name).write_text("")
    done = made.run(".")
    assert "note" in done.stderr and "Quarto is too old." in done.stderr and "Quarto" not in done.stdout
    assert f"not checked, not a notebook: 1 ({name})" in done.stderr and "not checked" not in done.stdout


def test_what_cannot_be_read_at_all_is_a_sentence(made):
    made.error = Unreadable("The rubric is none.")
    done = made.run("a.ipynb")
    assert (done.returncode, done.stderr) == (2, "error  The rubric is none.\n")


def test_a_folder_without_notebooks_is_an_error(made, tmp_path):
    made.pages = []
    (tmp_path / "empty").mkdir()
    done = made.run("empty")
    assert done.returncode == 2 and "There is no notebook in empty: " in done.stderr and not made.index.exists()
