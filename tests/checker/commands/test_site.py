"""`checker site`: by Quarto where it is installed, else built in. Neither runs here: see tests/checker/site/."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.commands import site
from checker.pages import quarto
from checker.reading import website
from checker.reading.notebook import Unreadable
from checker.site import builtin, cell_words, finish, pieces
from tests.checker.command_line import checker

SITE = SimpleNamespace(pages=["a page"])


@pytest.fixture
def made(monkeypatch, tmp_path):
    """A function that makes the site by this program, which ends with this status; and the steps that were taken."""

    def go(program, status=0):
        def step(name, result=None):
            return lambda *arguments: steps.append((name, *arguments)) or result

        def run(command):
            steps.append(tuple(command))
            return SimpleNamespace(returncode=status)

        monkeypatch.setattr(quarto, "program", lambda: program)
        monkeypatch.setattr(website, "website", step("website", SITE))
        monkeypatch.setattr(pieces, "write_for_quarto", step("pieces"))
        monkeypatch.setattr(cell_words, "write_for_quarto", step("words"))
        monkeypatch.setattr(finish, "finish", step("finish"))
        monkeypatch.setattr(site.subprocess, "run", run)
        return checker("site", cwd=tmp_path)

    steps = go.steps = []
    return go


BEFORE = [("website", Path()), ("pieces", Path(), SITE.pages), ("words", Path(), SITE.pages), ("quarto", "render")]


def test_quarto_renders_what_was_written_for_it_and_its_pages_are_finished(made, tmp_path):
    """Catches a site that is finished in another folder than Quarto's."""
    assert made("quarto").returncode == 0
    assert made.steps == [*BEFORE, ("finish", Path(), Path("_site"), SITE)]


def test_quartos_folder_is_the_one_of_the_settings():
    settings = (Path(__file__).parents[3] / "_quarto.yml").read_text(encoding="utf-8")
    assert f"output-dir: {site.QUARTO_OUTPUT}\n" in settings


def test_what_quarto_cannot_render_is_not_finished(made):
    """Catches the pages of yesterday, published once more."""
    assert made("quarto", status=1).returncode == 1
    assert made.steps == BEFORE


def test_without_quarto_the_pages_are_built_where_they_are_asked_for_and_listed(made, monkeypatch, tmp_path):
    asked = []
    page = Path("_site", "a\nb.html")
    monkeypatch.setattr(builtin, "build", lambda root, output: asked.append((root, output)) or [page])
    done = made(None)
    assert (done.returncode, done.stdout, made.steps) == (0, f"{Path('_site')}/a b.html\n", [])
    checker("site", "-o", "out", cwd=tmp_path)
    assert asked == [(Path(), Path("_site")), (Path(), Path("out"))]


def test_a_course_that_cannot_be_read_is_a_sentence(made, monkeypatch):
    def build(root, output):
        raise Unreadable("There is no [_quarto.yml].")

    monkeypatch.setattr(builtin, "build", build)
    done = made(None)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "error  There is no [_quarto.yml].\n")
