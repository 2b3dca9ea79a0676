"""A notebook as one HTML file: folded code, a contents list, pictures and mathematics, all of it inside.

Quarto makes the page where it is installed. The built-in renderer needs only Python: Markdown, code and
colours go through nbconvert's filters, formulas become MathML, and all of it is sanitised, because a report
shows what someone else wrote. The one script of a page saves the rubric's form; its content security policy
allows no other.
"""

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from checker import quarto
from checker.batch import Entry, check_all
from checker.check import Report, check, unreadable
from checker.files import write_beside
from checker.findings import one_line
from checker.layout import SPECS, heading_of, is_header
from checker.notebook import Cell, Notebook, Output, Unreadable, read
from checker.rubric import RUBRIC, Criterion, Evidence, evidence, load

HERE = Path(__file__).parent
INDEX = "index.html"
LONGEST = 40_000  # characters of a cell or of an output on a page
LONGEST_NAME = 200  # bytes of a file's or folder's name
DEEPEST = 5_000  # elements of an output that are not closed
MOST_CELLS, MOST_TEXT = 1_000, 400_000  # cells, and characters of their sources and text outputs, on one page
FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?![\s$])(?P<inline>[^$\n]+?)(?<![\s\\])\$(?!\w)",
    re.DOTALL,
)
CODE = re.compile(
    r"(^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`))",
    re.DOTALL | re.MULTILINE,
)
MATHML = {
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mfrac",
    "msqrt",
    "mroot",
    "mstyle",
    "mpadded",
    "mphantom",
    "menclose",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mtable",
    "mtr",
    "mtd",
    "semantics",
    "annotation",
}


def render(
    path: Path, folder: Path, engine: str = "auto", rubric: Path = RUBRIC, *, report: Report | None = None
) -> Path:
    """Write the page of a notebook into `folder` and return where it is. The notebook itself is only read.

    Args:
        engine: "quarto", "builtin", or "auto" for Quarto where it is installed.
        rubric: the file that holds the criteria.
        report: of a check that was made already; None checks the notebook here.

    Raises:
        Unreadable: the file is not a notebook, the rubric is not one, or Quarto was asked for and is not
            there or fails.
    """
    target = folder / _page_name(Path(path.name))
    write_beside(target, _page(path, report or check(path), engine, load(rubric)))
    return target


def render_all(
    found: Iterable[Entry], folder: Path, engine: str, rubric: Path, **options
) -> Iterator[tuple[Report, Path | None]]:
    """The report on each entry and its page, in the same tree below `folder`; no page for what is unreadable.

    Two notebooks that would get one name get two, and none gets the name of the index. `options` are those of
    `check`.
    """
    criteria, taken = load(rubric), {folder / INDEX}
    found = list(found)
    for entry, report in zip(found, check_all(found, **options), strict=True):
        target = None
        if report.status != "unreadable":
            target = _free(folder / _page_name(entry.inside), taken)
            try:
                write_beside(target, _page(entry.file, report, engine, criteria))
            except Unreadable as error:
                report, target = unreadable(report.name, error), None
            except OSError as error:
                reason = Unreadable(f"The page {target} cannot be written: {error.strerror}.")
                report, target = unreadable(report.name, reason), None
        yield report, target


def _page_name(inside: Path) -> Path:
    """Where a page lies below the output folder: the same tree, in names that every file system takes."""
    parts = [*inside.parts[:-1], inside.stem]
    short = [one_line(part).encode()[:LONGEST_NAME].decode(errors="ignore") for part in parts]
    return Path(*short[:-1], f"{short[-1]}.html")


def _free(target: Path, taken: set[Path]) -> Path:
    """The path, or the next like it that is not taken; it is taken then."""
    stem, number = target.stem, 1
    while target in taken:
        number += 1
        target = target.with_name(f"{stem}-{number}.html")
    taken.add(target)
    return target


def _page(path: Path, report: Report, engine: str, criteria: list[Criterion]) -> str:
    notebook = read(path)
    command = quarto.command() if engine in ("auto", "quarto") else None
    if engine == "quarto" and command is None:
        raise Unreadable(
            "Quarto is not installed. See https://quarto.org/docs/get-started, or use --engine builtin."
        )
    if command is None:
        return page(notebook, report, criteria)
    form = _template("rubric.html.j2").render(rubric=_graded(criteria, notebook, report), report=report)
    return quarto.page(command, path, title_of(notebook), form, **_script("form.js"))


def page(notebook: Notebook, report: Report, criteria: list[Criterion]) -> str:
    """The whole page of the built-in renderer."""
    body, contents = [], []
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
    return _template("page.html.j2").render(
        title=title,
        body="\n".join(body),
        contents=contents,
        report=report,
        css=_css(),
        specs=SPECS,
        rubric=_graded(criteria, notebook, report),
        **_script("form.js"),
    )


def _shown(notebook: Notebook) -> list[Cell]:
    """The first cells, as many as a page can bear."""
    shown, room = [], MOST_TEXT
    for cell in notebook.cells[:MOST_CELLS]:
        room -= min(len(cell.source), LONGEST) + sum(min(len(o.text), LONGEST) for o in cell.outputs)
        if room < 0:
            break
        shown.append(cell)
    return shown


def _graded(
    criteria: list[Criterion], notebook: Notebook, report: Report
) -> list[tuple[Criterion, list[Evidence]]]:
    return [(criterion, list(evidence(criterion, notebook, report))) for criterion in criteria]


def index(rows: list[tuple[Report, str]]) -> str:
    """The page that lists many notebooks: (report, link to the page or "")."""
    passed = sum(report.status == "pass" for report, _ in rows)
    return _template("index.html.j2").render(rows=rows, passed=passed, css=_css(), **_script("index.js"))


def _script(name: str) -> dict[str, str]:
    """A script of ours, and the hash by which the content security policy lets it and no other run."""
    text = (HERE / name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"script": text, "script_hash": f"sha256-{digest}"}


def title_of(notebook: Notebook) -> str:
    """The header's title, else the first heading, else the file's name."""
    sources = [cell.source for cell in notebook.cells if not cell.is_code]
    for pattern in (r"^title:\s*[\"']?(.+?)[\"']?\s*$", r"^#\s+(.+)$"):
        for source in sources[:3]:
            if match := re.search(pattern, source, re.MULTILINE):
                return match[1]
    return one_line(notebook.path.stem)


def _markdown(cell: Cell, contents: list[tuple[str, str]]) -> str:
    """A Markdown cell; its headings of the first two levels are added to the contents list."""
    from nbconvert.filters import markdown2html

    if cell.kind == "raw" or len(cell.source) > LONGEST:
        return f"<pre>{html.escape(_cut(cell.source))}</pre>"
    formulas: list[str] = []
    body = markdown2html(_without_formulas(cell.source, formulas))

    def heading(match: re.Match) -> str:
        level, text = int(match[1]), re.sub(r"<a class=\"anchor-link\".*?</a>", "", match[2], flags=re.DOTALL)
        anchor = f"cell-{cell.number}-{len(contents)}"
        if level <= 2:
            contents.append((anchor, html.unescape(re.sub(r"<[^>]+>", "", text)).strip()))
        return f'<h{min(level + 1, 6)} id="{anchor}">{text}</h{min(level + 1, 6)}>'

    body = re.sub(r"<h([1-6])[^>]*>((?:(?!<h[1-6]).)*?)</h\1>", heading, body, flags=re.DOTALL)
    for number, formula in enumerate(formulas):
        body = body.replace(f"FORMULA{number}END", formula)
    return f'<section class="text">{sanitised(body)}</section>'


def _without_formulas(source: str, formulas: list[str]) -> str:
    """The Markdown, a word for each formula outside of code, whose MathML is appended to `formulas`."""

    def replace(match: re.Match) -> str:
        formulas.append(_mathml(match["display"] or match["inline"], bool(match["display"])))
        return f"FORMULA{len(formulas) - 1}END"

    parts, position = [], 0
    for code in CODE.finditer(source):
        parts += [FORMULA.sub(replace, source[position : code.start()]), code[0]]
        position = code.end()
    return "".join([*parts, FORMULA.sub(replace, source[position:])])


def _mathml(tex: str, display: bool) -> str:
    from latex2mathml.converter import convert

    try:
        return convert(tex.strip(), display="block" if display else "inline")
    except Exception:  # latex2mathml raises many kinds for TeX that it cannot read: the source is then shown
        return f"<code>{html.escape(tex)}</code>"


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
    return (
        text if len(text) <= LONGEST else f"{text[:LONGEST]}\n... ({len(text) - LONGEST:,} more characters)"
    )


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
    if "text/html" in data and _bearable(data["text/html"]):
        return f'<div class="html">{sanitised(data["text/html"])}</div>'
    if "text/markdown" in data and len(data["text/markdown"]) <= LONGEST:
        return sanitised(markdown2html(data["text/markdown"]))
    if not output.text.strip():
        return ""
    return f'<pre class="{output.kind}">{sanitised(ansi2html(_cut(output.text).rstrip()))}</pre>'


def _bearable(fragment: str) -> bool:
    """Whether HTML is short and shallow: sanitising takes the square of how many elements are left open."""
    left_open = fragment.count("<") - 2 * fragment.count("</")
    return len(fragment) <= 10 * LONGEST and left_open <= DEEPEST


def sanitised(fragment: str) -> str:
    """HTML that can only be looked at: no script, no style, no address but links and embedded pictures."""
    import nh3

    tags = nh3.ALLOWED_TAGS | MATHML | {"section", "figure", "figcaption"}
    attributes = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
    attributes["*"] = {"class", "id", "title"}
    attributes["math"] = {"display", "xmlns"}
    for tag in MATHML - {"math"}:
        attributes[tag] = {
            "mathvariant",
            "stretchy",
            "fence",
            "form",
            "separator",
            "accent",
            "columnalign",
            "lspace",
            "rspace",
            "width",
            "linethickness",
            "minsize",
            "maxsize",
            "displaystyle",
        }
    attributes["td"] = attributes["th"] = {"align", "colspan", "rowspan"}
    attributes["details"] = {"open"}
    return nh3.clean(
        fragment,
        tags=tags,
        attributes=attributes,
        url_schemes={"http", "https", "mailto", "data"},
        attribute_filter=_only_embedded_pictures,
        link_rel="noopener noreferrer",
    )


def _only_embedded_pictures(tag: str, attribute: str, value: str) -> str | None:
    """`data:` addresses for pictures only, and pictures only from `data:`: opening a page fetches nothing."""
    if attribute == "src":
        return value if value.startswith("data:image/") else None
    return None if attribute == "href" and value.startswith("data:") else value


@lru_cache
def _template(name: str):
    from jinja2 import Environment, FileSystemLoader

    return Environment(
        loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    ).get_template(name)


@lru_cache
def _css() -> str:
    """The page's style, with the colours of code for light and for dark."""
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    return (
        f"{(HERE / 'page.css').read_text()}\n{light}\n@media (prefers-color-scheme: dark)"
        f" {{\n{dark}\n}}\n.highlight {{ background: none !important; }}"
    )
