"""The texts of a notebook as one page: what they define for each other, and what of them no page shows as it was meant."""

from collections.abc import Iterator
from urllib.parse import unquote

from checker.reading.notebook import Cell, Notebook
from checker.reading.options import reference
from checker.reading.prose.parser import Remark, Text, read
from checker.reading.prose.tex import Names, unknown

LONGEST = 40_000  # characters of a text; a longer one is shown as it was written
MOST_TEXT = 400_000  # characters of all of them
MOST_FORMULAS = 2_000  # of a notebook, that are tried
DEFINING = ("{#", "\\label", "\\newcommand", "\\renewcommand", "\\providecommand", "\\def", "\\DeclareMathOperator")


def define(source: str, names: Names) -> None:
    """Keep the names and macros that a text defines for its page, before any text of the page is shown."""
    if any(word in source for word in DEFINING):
        read(source, names)


def names_of(notebook: Notebook) -> Names:
    """The names to which the texts of a notebook refer, numbered in its order: pictures, tables, equations, headings, macros of TeX."""
    names = Names()
    for cell in notebook.cells:
        if cell.is_code and cell.outputs:
            names.add(reference(cell))
    for cell in _cells(notebook):
        define(cell.source, names)
    return names


def texts(notebook: Notebook) -> list[tuple[Cell, Text]]:
    """The cells of Markdown, as many as are read, each with its tokens."""
    names = names_of(notebook)
    return [(cell, read(cell.source, names)) for cell in _cells(notebook)]


def remarks(read_texts: list[tuple[Cell, Text]]) -> Iterator[tuple[Cell, Remark]]:
    """The remarks on the texts of a notebook, each with its cell."""
    tried: dict[tuple[str, bool], str] = {}
    for cell, text in read_texts:
        found = [*text.remarks, *_unread(text, tried), *_without_picture(text, cell)]
        yield from ((cell, remark) for remark in dict.fromkeys(found))


def _cells(notebook: Notebook) -> Iterator[Cell]:
    room = MOST_TEXT
    for cell in notebook.cells:
        is_header = cell.number == 0 and cell.source.lstrip().startswith("---")
        if cell.kind == "markdown" and not is_header and len(cell.source) <= min(LONGEST, room):
            room -= len(cell.source)
            yield cell


def _pieces(text: Text, kind: str) -> Iterator:
    return (piece for token in text.tokens for piece in token.children or () if piece.type == kind)


def _unread(text: Text, tried: dict[tuple[str, bool], str]) -> Iterator[Remark]:
    for formula in _pieces(text, "formula"):
        tex, display = formula.meta.get("tex"), bool(formula.markup)
        if tex and (tex, display) not in tried and len(tried) < MOST_FORMULAS:
            tried[tex, display] = unknown(tex, display)
        if reason := tried.get((tex, display), ""):
            shown = " ".join(formula.content.split())[:60]
            yield Remark(f"a formula with {reason}, which the page shows as it was written: {shown}", KNOWN_TEX)


KNOWN_TEX = "Write it in the TeX that MathJax knows, without packages."


def _without_picture(text: Text, cell: Cell) -> Iterator[Remark]:
    for picture in _pieces(text, "image"):
        address = str(picture.attrs["src"])
        name = address.removeprefix("attachment:")
        if name != address and not {name, unquote(name)} & cell.attachments.keys():
            yield Remark(
                f"the picture {unquote(name)[:60]} is not attached to the cell", "Paste it into the cell again."
            )
