"""Pieces of the site that are made from the course's own files: the gallery of notebooks, "Watch it learn", "Try it",
"Check your notebook", drawings.

A page asks for one by an empty block with its name, `::: {#gallery}` ... `:::`; what stands between is for readers of the
source. The built-in site puts the piece there, and `site/pieces.lua` does the same for Quarto, from a file that
`checker site` writes.
"""

import re
from collections.abc import Callable
from pathlib import Path

from checker.pages.templates import style
from checker.reading.files import write_beside
from checker.site.pieces import cards, checking, cloning, drawings, interface, recorded, references, trying

MAKERS: dict[str, Callable[[Path, list[Path]], str]] = {
    "gallery": cards.gallery,
    "watch": recorded.watch,
    "grid": recorded.grid,
    "try": trying.still,
    "check": checking.place,
    "clone": cloning.clone,
    "references": references.references,
    "api": interface.interface,
    **{name: drawings.maker(name) for name in drawings.DRAWINGS},
}
SCRIPTS = {"watch": "watch.js", "grid": "grid.js", "try": "try.js", "check": "check.js"}
BLOCK = re.compile(rf"^::: \{{#({'|'.join(MAKERS)})\}}[ \t]*\n.*?^:::[ \t]*$", re.DOTALL | re.MULTILINE)
FOR_QUARTO = Path("build") / "pieces"  # read by site/pieces.lua


def marked(source: str) -> str:
    """Markdown of a page, with a mark for each piece that it asks for."""
    return BLOCK.sub(lambda block: f"\n{_mark(block[1])}\n", source)


def asked_for(html: str) -> list[str]:
    """The names of the pieces whose marks a page has."""
    return [name for name in MAKERS if _mark(name) in html]


def filled(html: str, project: Path, sources: list[Path]) -> str:
    """A page with the pieces in the places of their marks."""
    for name in asked_for(html):
        html = html.replace(f"<p>{_mark(name)}</p>", piece(name, project, sources))
    return html


def _mark(name: str) -> str:
    return f"[[{name}]]"


def piece(name: str, project: Path, sources: list[Path]) -> str:
    """A piece as HTML with its style, without its script. `sources` are the site's pages in reading order."""
    return MAKERS[name](project, sources)


def write_for_quarto(project: Path, sources: list[Path]) -> None:
    """Write every piece, with its script, where Quarto's filter looks for it."""
    for name in MAKERS:
        text = piece(name, project, sources)
        if name in SCRIPTS:
            text += f"<script>{style(SCRIPTS[name])}</script>\n"
        write_beside(project / FOR_QUARTO / f"{name}.html", text)
