"""A notebook as one HTML file: folded code, a contents list, pictures and mathematics inside, nothing from elsewhere.

Quarto makes the page where it is installed. The built-in renderer needs only Python: Markdown, code and colours go
through nbconvert's filters, formulas become MathML, and all of it is sanitised, because a report shows what someone
else wrote. The one script of a page saves the rubric's form; its content security policy allows no other.
"""

import base64
import hashlib
import html
import re
import shutil
import subprocess
import sys
import tempfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from checker.check import Report, check, find, unreadable
from checker.files import write_beside
from checker.layout import SPECS, is_header, label_of
from checker.notebook import Cell, Notebook, Output, Unreadable, read
from checker.rubric import evidence, load

HERE = Path(__file__).parent
FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?![\s$])(?P<inline>[^$\n]+?)(?<![\s\\])\$(?!\w)",
    re.DOTALL,
)
CODE = re.compile(
    r"(^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)|(`+)(?:(?!\3).)+?\3(?!`))",
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


def render(path: Path, folder: Path, engine: str = "auto") -> Path:
    """Write the page of a notebook into `folder` and return where it is. The notebook itself is only read.

    Args:
        engine: "quarto", "builtin", or "auto" for Quarto where it is installed.

    Raises:
        Unreadable: the file is not a notebook, or Quarto was asked for and is not there or fails.
    """
    notebook = read(path)
    target = folder / f"{path.stem}.html"
    quarto = quarto_command() if engine in ("auto", "quarto") else None
    if engine == "quarto" and quarto is None:
        raise Unreadable(
            "Quarto is not installed. See https://quarto.org/docs/get-started, or use --engine builtin."
        )
    if quarto:
        _with_quarto(quarto, path, target)
    else:
        write_beside(target, page(notebook, check(path)))
    return target


def render_folder(path: Path, folder: Path, engine: str = "auto") -> list[Report]:
    """The pages of a folder's notebooks in the same tree under `folder`, and an index.html; one file is a page alone.

    Prints the path of each page as it is written. A notebook that cannot be rendered is reported and does not stop
    the rest.
    """
    rows: list[tuple[Report, str]] = []
    for file in find(path):
        inside = file.relative_to(path).parent if path.is_dir() else Path()
        report = check(file, name=str(file.relative_to(path)) if path.is_dir() else str(file))
        link = ""
        if report.status != "unreadable":
            try:
                made = render(file, folder / inside, engine)
                link = made.relative_to(folder).as_posix()
                print(made)
            except Unreadable as error:
                report = unreadable(report.name, error)
        rows.append((report, quote(link)))
    if path.is_dir():
        write_beside(folder / "index.html", index(rows))
        print(folder / "index.html")
    return [report for report, _ in rows]


def quarto_command() -> list[str] | None:
    """How to call Quarto: the program on the PATH, or the Python package; None without either."""
    if found := shutil.which("quarto"):
        return [found]
    return [sys.executable, "-m", "quarto_cli"] if find_spec("quarto_cli") else None


def _with_quarto(quarto: list[str], path: Path, target: Path) -> None:
    """Render a copy in a folder of its own, without executing it, and move the page."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "notebook.ipynb")
        shutil.copyfile(path, copy)
        options = [
            "--to",
            "html",
            "--no-execute",
            "-M",
            "embed-resources:true",
            "-M",
            "html-math-method:mathml",
        ]
        done = subprocess.run(
            [*quarto, "render", copy.name, *options], cwd=scratch, capture_output=True, text=True
        )
        made = copy.with_suffix(".html")
        if done.returncode or not made.is_file():
            raise Unreadable(f"Quarto could not render it: {done.stderr.strip()[-500:]}")
        write_beside(target, made.read_text(encoding="utf-8"))


def page(notebook: Notebook, report: Report) -> str:
    """The whole page of the built-in renderer."""
    body, contents = [], []
    for cell in notebook.cells:
        if cell.number == 0 and is_header(cell):
            continue
        body.append(f'<a id="cell-{cell.number}"></a>')
        if cell.is_code and (heading := _code_heading(cell)):
            contents.append((f"cell-{cell.number}", heading))
            body.append(f"<h2>{html.escape(heading)}</h2>")
        body.append(_code(cell) if cell.is_code else _markdown(cell, contents))
    title = _title(notebook)
    return _template("page.html.j2").render(
        title=title,
        body="\n".join(body),
        contents=contents,
        report=report,
        css=_css(),
        specs=SPECS,
        rubric=[(criterion, evidence(criterion, notebook, report)) for criterion in load()],
        **_script("form.js"),
    )


def index(rows: list[tuple[Report, str]]) -> str:
    """The page that lists many notebooks: (report, link to the page or "")."""
    passed = sum(report.status == "pass" for report, _ in rows)
    return _template("index.html.j2").render(rows=rows, passed=passed, css=_css(), **_script("index.js"))


def _script(name: str) -> dict[str, str]:
    """A script of ours, and the hash by which the content security policy lets it and no other run."""
    text = (HERE / name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"script": text, "script_hash": f"sha256-{digest}"}


def _title(notebook: Notebook) -> str:
    """The header's title, else the first heading, else the file's name."""
    sources = [cell.source for cell in notebook.cells if not cell.is_code]
    for pattern in (r"^title:\s*[\"']?(.+?)[\"']?\s*$", r"^#\s+(.+)$"):
        for source in sources[:3]:
            if match := re.search(pattern, source, re.MULTILINE):
                return match[1]
    return notebook.path.stem


def _code_heading(cell: Cell) -> str:
    """`# Cell 4: Reward function` of a code cell as a heading, "" without a label."""
    if label_of(cell) is None:
        return ""
    return next(line for line in cell.source.splitlines() if line.strip()).strip().lstrip("#").strip()


def _markdown(cell: Cell, contents: list[tuple[str, str]]) -> str:
    """A Markdown cell; its headings of the first two levels are added to the contents list."""
    from nbconvert.filters import markdown2html

    if cell.kind == "raw":
        return f"<pre>{html.escape(cell.source)}</pre>"
    formulas: list[str] = []
    body = markdown2html(_without_formulas(cell.source, formulas))

    def heading(match: re.Match) -> str:
        level, text = int(match[1]), re.sub(r"<a class=\"anchor-link\".*?</a>", "", match[2], flags=re.DOTALL)
        anchor = f"cell-{cell.number}-{len(contents)}"
        if level <= 2:
            contents.append((anchor, html.unescape(re.sub(r"<[^>]+>", "", text)).strip()))
        return f'<h{min(level + 1, 6)} id="{anchor}">{text}</h{min(level + 1, 6)}>'

    body = re.sub(r"<h([1-6])[^>]*>(.*?)</h\1>", heading, body, flags=re.DOTALL)
    for number, formula in enumerate(formulas):
        body = body.replace(f"FORMULA{number}END", formula)
    return f'<section class="text">{sanitised(body)}</section>'


def _without_formulas(source: str, formulas: list[str]) -> str:
    """The Markdown with each formula outside of code replaced by a word, and its MathML appended to `formulas`."""

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
    shown = Highlight2HTML()(cell.source, language="python") if cell.source.strip() else ""
    count = "" if cell.count is None else f"In [{cell.count}], "
    folded = f"<details><summary>Code <small>{count}{lines} line{'s' if lines != 1 else ''}</small></summary>{shown}</details>"
    outputs = "".join(map(_output, cell.outputs))
    return f'<section class="code">{sanitised(folded)}{f"<div class=output>{outputs}</div>" if outputs else ""}</section>'


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
    if "text/html" in data:
        return f'<div class="html">{sanitised(data["text/html"])}</div>'
    if "text/markdown" in data:
        return sanitised(markdown2html(data["text/markdown"]))
    if not output.text.strip():
        return ""
    return f'<pre class="{output.kind}">{sanitised(ansi2html(output.text.rstrip()))}</pre>'


def sanitised(fragment: str) -> str:
    """HTML that can do nothing but be looked at: no script, no style, no address but links and embedded pictures."""
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
    """`data:` addresses for pictures only, and pictures only from `data:`, so that opening a page fetches nothing."""
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
    return f"{(HERE / 'page.css').read_text()}\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n.highlight {{ background: none !important; }}"
