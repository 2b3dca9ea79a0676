"""Formulas in Markdown as MathML, which a browser shows without any script."""

import html
import re

FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<display>.+?)\$\$|(?<![\\$\w])\$(?![\s$])(?P<inline>[^$\n]+?)(?<![\s\\])\$(?!\w)",
    re.DOTALL,
)
CODE = re.compile(
    r"(^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`))",
    re.DOTALL | re.MULTILINE,
)


def without_formulas(source: str) -> tuple[str, list[str]]:
    """The Markdown with a word in place of each formula outside of code, and the formulas' MathML."""
    formulas: list[str] = []

    def replace(match: re.Match) -> str:
        formulas.append(_mathml(match["display"] or match["inline"], bool(match["display"])))
        return f"FORMULA{len(formulas) - 1}END"

    parts = []
    position = 0
    for code in CODE.finditer(source):
        parts += [FORMULA.sub(replace, source[position : code.start()]), code[0]]
        position = code.end()
    parts.append(FORMULA.sub(replace, source[position:]))
    return "".join(parts), formulas


def with_formulas(body: str, formulas: list[str]) -> str:
    """The HTML made of such Markdown, with the formulas where their words stand."""
    for number, formula in enumerate(formulas):
        body = body.replace(f"FORMULA{number}END", formula)
    return body


def _mathml(tex: str, display: bool) -> str:
    from latex2mathml.converter import convert

    try:
        return convert(tex.strip(), display="block" if display else "inline")
    except Exception:  # latex2mathml raises many kinds for TeX that it cannot read: the source is then shown
        return f"<code>{html.escape(tex)}</code>"
