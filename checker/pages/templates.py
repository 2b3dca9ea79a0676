"""The templates, the style and the scripts of the pages, which lie beside this file."""

import base64
import hashlib
from functools import lru_cache
from pathlib import Path

HERE = Path(__file__).parent


@lru_cache
def template(name: str):
    """A Jinja template, which escapes what is put into it."""
    from jinja2 import Environment, FileSystemLoader

    loader = FileSystemLoader(HERE)
    return Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True).get_template(name)


def rendered(name: str, scripts: tuple[str, ...], **content) -> str:
    """A page of a template on `layout.html.j2`, with the style and the scripts inside it."""
    return template(name).render(css=css(), **_scripts(scripts), **content)


def style(name: str) -> str:
    """The style of one piece, which stands beside its markup."""
    return (HERE / name).read_text(encoding="utf-8")


@lru_cache
def css() -> str:
    """The page's style, with the colours of code for light and for dark."""
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="xcode").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    page = (HERE / "page.css").read_text(encoding="utf-8")
    in_the_dark = f"@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}"
    return f"{light}\n{in_the_dark}\n{page}"


@lru_cache
def _scripts(names: tuple[str, ...]) -> dict[str, str]:
    """Scripts of ours as one, and the hash by which the content security policy lets it and no other run."""
    text = "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"script": text, "script_hash": f"sha256-{digest}"}
