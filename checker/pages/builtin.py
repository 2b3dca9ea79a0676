"""The built-in page, which needs only Python.

Markdown, code and colours go through nbconvert's filters, formulas become MathML, and all of it is sanitised, because a
report shows what someone else wrote. The one script of a page saves the rubric's form; its content security policy
allows no other.
"""

import base64
import html
import re

from checker.check import Report
from checker.layout import SPECS, heading_of, is_header, title_of
from checker.notebook import Cell, Notebook, Output
from checker.pages.formulas import with_formulas, without_formulas
from checker.pages.sanitise import bearable, sanitised
from checker.pages.templates import css, script, template
from checker.rubric import Criterion, with_evidence

LONGEST = 40_000  # characters of a cell or of an output on a page
MOST_CELLS = 1_000  # cells on one page
MOST_TEXT = 400_000  # characters of their sources and text outputs, on one page


def page(notebook: Notebook, report: Report, criteria: list[Criterion]) -> str:
    """The whole page of the built-in renderer."""
    body = []
    contents = []
    shown = _shown(notebook)
    for cell in shown:
        if cell.number == 0 and is_header(cell):
            continue
        body.append(f'<a id="cell-{cell.number}"></a>')
        if cell.is_code and (heading := heading_of(cell)):
            contents.append((f"cell-{cell.number}", heading))
            body.append(f"<h2>{html.escape(heading)}</h2>")
        body.append(_code(cell) if cell.is_code else _markdown(cell, contents))
    if rest := len(notebook.cells) - len(shown):
        body.append(f"<p>{rest:,} further cells are not shown.</p>")
    title = title_of(notebook)
    return template("page.html.j2").render(
        title=title,
        body="\n".join(body),
        contents=contents,
        report=report,
        css=css(),
        specs=SPECS,
        rubric=with_evidence(criteria, notebook, report),
        **script("form.js"),
    )


def _shown(notebook: Notebook) -> list[Cell]:
    """The first cells, as many as a page can bear."""
    shown = []
    room = MOST_TEXT
    for cell in notebook.cells[:MOST_CELLS]:
        room -= min(len(cell.source), LONGEST) + sum(min(len(o.text), LONGEST) for o in cell.outputs)
        if room < 0:
            break
        shown.append(cell)
    return shown


def _markdown(cell: Cell, contents: list[tuple[str, str]]) -> str:
    """A Markdown cell; its headings of the first two levels are added to the contents list."""
    from nbconvert.filters import markdown2html

    if cell.kind == "raw" or len(cell.source) > LONGEST:
        return f"<pre>{html.escape(_cut(cell.source))}</pre>"
    source, formulas = without_formulas(cell.source)
    body = markdown2html(source)

    def heading(match: re.Match) -> str:
        level = int(match[1])
        text = re.sub(r"<a class=\"anchor-link\".*?</a>", "", match[2], flags=re.DOTALL)
        anchor = f"cell-{cell.number}-{len(contents)}"
        if level <= 2:
            contents.append((anchor, html.unescape(re.sub(r"<[^>]+>", "", text)).strip()))
        return f'<h{min(level + 1, 6)} id="{anchor}">{text}</h{min(level + 1, 6)}>'

    body = re.sub(r"<h([1-6])[^>]*>((?:(?!<h[1-6]).)*?)</h\1>", heading, body, flags=re.DOTALL)
    return f'<section class="text">{sanitised(with_formulas(body, formulas))}</section>'


def _code(cell: Cell) -> str:
    """A code cell, folded, and its outputs."""
    from nbconvert.filters import Highlight2HTML

    lines = cell.source.count("\n") + 1
    source = "\n".join(line.rstrip() for line in _cut(cell.source).split("\n"))  # Pygments is slow on blanks
    shown = Highlight2HTML()(source, language="python") if source else ""
    count = "" if cell.count is None else f"In [{cell.count}], "
    folded = (
        f"<details><summary>Code <small>{count}{lines}"
        f" line{'s' if lines != 1 else ''}</small></summary>{shown}</details>"
    )
    outputs = "".join(map(_output, cell.outputs))
    below = f"<div class=output>{outputs}</div>" if outputs else ""
    return f'<section class="code">{sanitised(folded)}{below}</section>'


def _cut(text: str) -> str:
    """The beginning of a text that is too long for a page."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n... ({len(text) - LONGEST:,} more characters)"


def _output(output: Output) -> str:
    """An output in the best form that is safe: a picture, HTML, Markdown, or text."""
    from nbconvert.filters import ansi2html, markdown2html

    data = output.data
    for mime in ("image/png", "image/jpeg", "image/gif", "image/webp"):
        if mime in data and re.fullmatch(r"[A-Za-z0-9+/=\s]+", data[mime]):
            encoded = re.sub(r"\s", "", data[mime])
            return f'<img alt="figure" src="data:{mime};base64,{encoded}">'
    if "image/svg+xml" in data:
        encoded = base64.b64encode(data["image/svg+xml"].encode()).decode()
        return f'<img alt="figure" src="data:image/svg+xml;base64,{encoded}">'
    if "text/html" in data and bearable(data["text/html"]):
        return f'<div class="html">{sanitised(data["text/html"])}</div>'
    if "text/markdown" in data and len(data["text/markdown"]) <= LONGEST:
        return sanitised(markdown2html(data["text/markdown"]))
    if not output.text.strip():
        return ""
    return f'<pre class="{output.kind}">{sanitised(ansi2html(_cut(output.text).rstrip()))}</pre>'
