"""The templates, the style and the scripts of the pages, which lie beside this file."""

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).parent
MATH_FONT = "math.woff2"  # made by site/math_font.py
CODE = re.compile(r"`([^`\n]+)`")
# The colours that both engines have: Quarto's names for them, in light.scss and dark.scss, and those of the style sheets.
COLOURS = {
    "body-bg": "page",
    "body-color": "text",
    "link-color": "link",
    "text-muted": "soft",
    "border-color": "line",
    "code-block-bg": "raised",
}


@lru_cache
def template(name: str):
    """A Jinja template, which escapes what is put into it."""
    from jinja2 import Environment, FileSystemLoader

    loader = FileSystemLoader(HERE)
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True)
    environment.filters["with_code"] = with_code
    return environment.get_template(name)


def with_code(text: str):
    """Text as HTML, in which what stands between backticks on one line is code."""
    from markupsafe import Markup, escape

    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))


def rendered(name: str, scripts: tuple[str, ...], **content) -> str:
    """A page of a template on `layout.html.j2`, with the style and the scripts inside it."""
    return template(name).render(css=css(), **_scripts(scripts), **content)


def with_math_font(page: str, address: str = "") -> str:
    """A page that has the font of its formulas, if there are any: at an address, or inside it without one."""
    if "<math" not in page:
        return page
    if not address:
        address = "data:font/woff2;base64," + base64.b64encode((HERE / MATH_FONT).read_bytes()).decode()
    face = f'@font-face {{ font-family: "Course Math"; src: url({address}) format("woff2"); font-display: swap; }}'
    return page.replace("</style>", f"{face}\n</style>", 1)


def style(name: str) -> str:
    """The style of one piece, which stands beside its markup."""
    return (HERE / name).read_text(encoding="utf-8")


@lru_cache
def css() -> str:
    """The page's style, with the colours of both themes."""
    light, dark = _colours("light"), _colours("dark")
    colours = " ".join(f"--{ours}: light-dark({light[quartos]}, {dark[quartos]});" for quartos, ours in COLOURS.items())
    return "\n".join([f":root {{ {colours} }}", style("both.scss"), style("page.css")])


def _colours(theme: str) -> dict[str, str]:
    """The colours of a theme, "light" or "dark", by Quarto's names for them."""
    return dict(re.findall(r"^\$([\w-]+): (#\w+);", style(f"{theme}.scss"), re.MULTILINE))


@lru_cache
def _scripts(names: tuple[str, ...]) -> dict[str, str]:
    """Scripts of ours as one, and the hash by which the content security policy lets it and no other run."""
    text = "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"script": text, "script_hash": f"sha256-{digest}"}
