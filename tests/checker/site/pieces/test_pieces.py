"""Pieces of pages: marked in a source, filled in on the page, and written down for Quarto with their scripts."""

import re
from pathlib import Path

import pytest

from checker.pages.templates import HERE, style
from checker.site import pieces

PROJECT = Path(__file__).parents[4]
PAGES = [PROJECT / "index.qmd", *PROJECT.glob("docs/*.qmd")]


@pytest.fixture
def made(monkeypatch) -> list[tuple]:
    """The calls of makers, each of which gives its name in a paragraph."""
    asked = []

    def maker(name: str):
        def make(project: Path, sources: list[Path]) -> str:
            asked.append((name, project, sources))
            return f"<p>größer {name}</p>\n"

        return make

    monkeypatch.setattr(pieces, "MAKERS", {name: maker(name) for name in pieces.MAKERS})
    return asked


def test_every_piece_is_asked_for_by_a_page():
    """Catches a page that asks for a piece under another name: its block then stays empty."""
    asked = [
        name for page in PAGES for name in re.findall(r"^::: \{#([\w-]+)\}", page.read_text("utf-8"), re.MULTILINE)
    ]
    assert sorted(asked) == sorted(pieces.MAKERS)


def test_a_piece_has_the_script_of_its_name():
    """Catches buttons that do nothing, for their script was not named."""
    there = {name for name in pieces.MAKERS if (HERE / f"{name}.js").is_file()}
    assert {name: f"{name}.js" for name in there} == pieces.SCRIPTS and len(there) > 3


def test_a_block_becomes_a_mark_and_the_mark_its_piece(made):
    """Catches text that is lost around a block, a block that ends at another's end, and one that nobody makes."""
    source = "Above\n\n::: {#gallery}  \nfor readers\n\nof it\n:::\n\nBetween\n\n::: {#watch}\n::: \n\n::: {#other}\nstays\n:::\n"
    marked = pieces.marked(source)
    assert "for readers" not in marked and "{#other}\nstays\n:::" in marked
    html = "".join(f"<p>{part}</p>" for part in marked.split("\n\n") if part.strip())
    html = re.sub(r"<p>\s*(.*?)\s*</p>", r"<p>\1</p>", html)
    assert pieces.asked_for(html) == ["gallery", "watch"]
    sources = [Path("a.ipynb")]
    filled = pieces.filled(html, PROJECT, sources)
    parts = [filled.index(part) for part in ("Above", "größer gallery", "Between", "größer watch", "stays")]
    assert parts == sorted(parts) and "[[" not in filled and "<p><p>" not in filled
    assert made == [("gallery", PROJECT, sources), ("watch", PROJECT, sources)]


def test_a_page_without_pieces_makes_none(made):
    assert pieces.filled("<p>x</p>", PROJECT, []) == "<p>x</p>" and made == []


def test_quarto_gets_every_piece_where_its_filter_looks(made, tmp_path):
    """Catches a piece without its script or without itself, and a folder that the filter does not know."""
    sources = [Path("a.ipynb")]
    pieces.write_for_quarto(tmp_path, sources)
    assert "build/pieces" in (PROJECT / "site" / "pieces.lua").read_text(encoding="utf-8")
    written = {file.stem: file.read_text(encoding="utf-8") for file in (tmp_path / "build" / "pieces").glob("*.html")}
    assert set(written) == set(pieces.MAKERS) and made == [(name, tmp_path, sources) for name in pieces.MAKERS]
    for name, text in written.items():
        assert text.startswith(f"<p>größer {name}</p>\n") and text.endswith("\n")
        assert text.count("<script>") == (name in pieces.SCRIPTS)
    assert f"<script>{style('watch.js')}</script>" in written["watch"]
