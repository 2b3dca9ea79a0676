"""Quarto: where it is looked for, and what of the project it is to leave or to make as it is."""

import json
import sys
from pathlib import Path

import yaml

from checker.reading.website import website
from checker.site import quarto
from checker.site.finish import finish

PROJECT = Path(__file__).parents[3]


def test_a_quarto_that_pip_installed_is_found(tmp_path, monkeypatch):
    """Catches the module `quarto_cli` being run, which has no `__main__`, and an environment that must be active."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing here"))
    assert quarto.program() is None
    beside = tmp_path / "bin" / "quarto"
    beside.parent.mkdir()
    beside.write_text("#!/bin/sh\n")
    beside.chmod(0o755)
    assert quarto.program() == str(beside)


def test_quarto_finds_nothing_to_add_to_what_git_ignores():
    """Catches `quarto render` changing a tracked file: it appends the lines that it does not find word for word."""
    ignored = (PROJECT / ".gitignore").read_text().splitlines()
    assert {"/.quarto/", "**/*.quarto_ipynb"} <= set(ignored)


def test_notebooks_of_the_site_keep_their_lines_apart():
    """Catches a source saved as one string: Quarto drops its line breaks, and prints the header on the page."""
    for path in sorted((PROJECT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        whole = [number for number, cell in enumerate(cells) if isinstance(cell["source"], str)]
        assert not whole, f"{path.name}, cells {whole}: save it from JupyterLab, or by `checker report --in-place`"


def test_no_theme_of_the_site_asks_for_a_font():
    """Catches a theme without the line that keeps it from importing fonts from elsewhere."""
    settings = yaml.safe_load((PROJECT / "_quarto.yml").read_text())
    for layers in settings["format"]["html"]["theme"].values():
        styles = "".join((PROJECT / layer).read_text() for layer in layers if layer.endswith(".scss"))
        assert "$web-font-path: false;" in styles


def test_a_page_of_quartos_site_is_finished_as_ours_are(tmp_path):
    """Catches scripts from elsewhere that Quarto adds, and Quarto's pages without links, openings and files."""
    page = tmp_path / "notebooks" / "dots.html"
    page.parent.mkdir()
    page.write_text(
        '<html><head><script src="https://example.org/require.min.js" integrity="x"></script>'
        """<script type="application/javascript">define('jquery', [],function() {return window.jQuery;})</script>"""
        '<script src="../site_libs/quarto.js"></script></head><body>'
        '<main class="content" id="quarto-document-content"><header id="title-block-header"><h1>Dots</h1></header><p>An advantage.</p></main></body></html>',
        encoding="utf-8",
    )
    finish(PROJECT, tmp_path, website(PROJECT))
    made = page.read_text(encoding="utf-8")
    assert "example.org" not in made and "define(" not in made and "site_libs/quarto.js" in made
    assert '<a class="term" href="../docs/glossary.html#advantage">advantage</a>' in made
    assert made.index("</header>") < made.index("Open it:") < made.index("An <a")
    assert (tmp_path / "files" / "dots-blank.ipynb").is_file()
