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


@lru_cache
def css() -> str:
    """The page's style, with the colours of code for light and for dark."""
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="default").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    page = (HERE / "page.css").read_text(encoding="utf-8")
    in_the_dark = f"@media (prefers-color-scheme: dark) {{\n{dark}\n}}"
    return f"{page}\n{light}\n{in_the_dark}\n.highlight {{ background: none !important; }}"


def script(name: str) -> dict[str, str]:
    """A script of ours, and the hash by which the content security policy lets it and no other run."""
    text = (HERE / name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"script": text, "script_hash": f"sha256-{digest}"}
