"""The built-in engine, which needs only Python.

Markdown goes through a parser, code through Pygments, formulas become MathML, and all of it is sanitised, because a
report shows what someone else wrote.
"""

import base64
import html
import re

from checker.pages import cells
from checker.pages.body import (
    LONGEST,
    Body,
    Outline,
    attached,
    beside,
    cut,
    folded,
    rest,
    text,
)
from checker.pages.markdown import highlighted, to_html
from checker.pages.sanitise import Pictures, bearable, no_picture, sanitised
from checker.pages.terminal import coloured
from checker.reading.layout import heading_of, label_of
from checker.reading.notebook import Cell, Notebook, Output
from checker.reading.options import reference

RASTER = ("image/png", "image/jpeg", "image/gif", "image/webp")


def body(notebook: Notebook, pictures: Pictures = no_picture) -> Body:
    """The cells of a notebook, as many as a page can bear.

    Args:
        pictures: gives pictures that lie beside the notebook by their addresses; those attached to a cell are known.
    """
    outline = Outline(notebook)
    pieces = []
    for cell in notebook.cells:
        if not outline.limits.allow(cell):
            break
        shown = code(cell, outline) if cell.is_code else text(cell, outline, attached(cell, pictures))
        if not outline.limits.take(shown):
            break
        pieces.append(f'<a id="cell-{cell.number}"></a>{shown}')
    pieces.append(rest(notebook, len(pieces), outline.limits.reason))
    return Body("\n".join(pieces), outline.contents)


def code(cell: Cell, outline: Outline) -> str:
    """A code cell: its heading if it has one, its code in a fold, and its outputs."""
    above = heading(cell, outline)
    lines = [line.rstrip() for line in cut(cells.code_of(cell)).split("\n")]  # Pygments is slow on blanks
    source = highlighted("\n".join(lines), "python")
    shown = folded(cells.fold(cell), source, aside=beside(cell), is_open=cells.is_exercise(cell))
    return f'{above}<section class="code">{shown}{place(cell)}{outputs(cell, outline)}</section>'


def heading(cell: Cell, outline: Outline) -> str:
    """The heading of a code cell that begins a section; "" for one that goes on with it."""
    said = heading_of(cell)
    return outline.section(label_of(cell), said) if said else ""


def outputs(cell: Cell, outline: Outline) -> str:
    """The outputs of a code cell; pictures are numbered within it for their captions."""
    shown = []
    pictures = 0
    for number, output in enumerate(cell.outputs):
        if outline.limits.late:
            shown.append(f'<p class="rest">{len(cell.outputs) - number:,} further outputs are not shown.</p>')
            break
        picture = picture_of(output)
        if picture:
            shown.append(figure(cell, pictures, picture, outline))
            pictures += 1
        else:
            shown.append(without_picture(output))
    below = "".join(shown)
    return f'<div class="output">{below}</div>' if below else ""


def picture_of(output: Output) -> str:
    """An output's picture as a `data:` address; "" where it has none."""
    for mime in RASTER:
        encoded = output.data.get(mime, "")
        if encoded and re.fullmatch(r"[A-Za-z0-9+/=\s]+", encoded):
            return f"data:{mime};base64," + re.sub(r"\s", "", encoded)
    if "image/svg+xml" in output.data:
        encoded = base64.b64encode(output.data["image/svg+xml"].encode()).decode()
        return f"data:image/svg+xml;base64,{encoded}"
    return ""


def figure(cell: Cell, number: int, picture: str, outline: Outline) -> str:
    """A picture with its caption and what is read to those who cannot see it."""
    shown = f'<img alt="{html.escape(cells.alternative(cell, number))}" src="{picture}">'
    said = caption(cell, number, outline)
    return f"<figure>{shown}<figcaption>{said}</figcaption></figure>" if said else f"<figure>{shown}</figure>"


def place(cell: Cell) -> str:
    """The place to which `@fig-name` leads, before the outputs of the cell that has the name; "" without a name."""
    name = reference(cell)
    return f'<a id="{name}"></a>' if name else ""


def caption(cell: Cell, number: int, outline: Outline) -> str:
    """A picture's caption, the first numbered where the cell has a name; "" without one."""
    said = caption_text(cell, number)
    named = outline.names.words.get(reference(cell)) if number == 0 else None
    return f"{html.escape(named)}: {said}" if named and said else said


def caption_text(cell: Cell, number: int) -> str:
    """A picture's caption, as HTML; "" without one."""
    said = cells.caption(cell, number)
    if not said:
        return ""
    inside, _ = to_html(said)
    return inside.strip().removeprefix("<p>").removesuffix("</p>")


def without_picture(output: Output) -> str:
    """An output in the best form that is safe: HTML, Markdown, or text."""
    data = output.data
    if "text/html" in data and bearable(data["text/html"]):
        return f'<div class="html">{sanitised(data["text/html"])}</div>'
    if "text/markdown" in data and len(data["text/markdown"]) <= LONGEST:
        return to_html(data["text/markdown"])[0]
    if not output.text.strip():
        return ""
    return f'<pre class="{output.kind}">{coloured(cut(output.text).rstrip())}</pre>'
