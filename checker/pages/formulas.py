"""Formulas in Markdown as MathML, which a browser shows without any script."""

import html
import re
from collections.abc import Callable

from checker.pages.parts import Parts

LONGEST = 4_000  # characters of a formula; a longer one is shown as it was written
FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?![\s$])(?P<inline>[^$\n]+?)(?<![\s\\])\$(?!\w)",
    re.DOTALL,
)
CODE = re.compile(
    r"(^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`))",
    re.DOTALL | re.MULTILINE,
)


def outside_code(source: str, change: Callable[[str], str]) -> str:
    """Markdown of which what is not code is changed."""
    pieces = []
    position = 0
    for code in CODE.finditer(source):
        pieces += [change(source[position : code.start()]), code[0]]
        position = code.end()
    pieces.append(change(source[position:]))
    return "".join(pieces)


def formulas(text: str, parts: Parts) -> str:
    """Markdown with a place for each formula, whose MathML `parts` holds."""

    def replace(match: re.Match) -> str:
        return parts.put(_mathml(match["display"] or match["inline"], bool(match["display"])))

    return FORMULA.sub(replace, text)


def _mathml(tex: str, display: bool) -> str:
    from latex2mathml.converter import convert

    as_written = f"<code>{html.escape(tex)}</code>"
    if len(tex) > LONGEST:
        return as_written
    try:
        return convert(tex.strip(), display="block" if display else "inline")
    except Exception:  # latex2mathml raises many kinds for TeX that it cannot read
        return as_written
