"""Quarto's finished pages, brought to what the built-in engine shows: formulas, Cell 0, pictures, what the search finds.

Quarto's formulas carry the TeX that they were made from. Of that TeX `checker/pages/formulas.py` makes the same formulas
as on the built-in pages: large brackets are large, names of functions keep their distance, an equation's number stands at
the right edge.
"""

import re
from html import unescape

from checker.pages.formulas import mathml
from checker.pages.templates import style

CONTENT = "quarto-document-content"  # the id of what a page of Quarto's is about
# Quarto adds these to a notebook that has an output in HTML, for scripts that such outputs might hold; ours hold none.
FROM_ELSEWHERE = re.compile(
    r"""<script src="https?://[^"]*"[^>]*></script>\s*|<script[^>]*>define\('jquery'.*?</script>\s*""", re.DOTALL
)
BODY = re.compile(r"<body\b[^>]*>")
SKIP = f'<a class="skip" href="#{CONTENT}">Skip to the content</a>'  # for whoever goes on by the keyboard
SCRIPTS = ("enlarge.js", "ranking.js", "quarto_search.js")
TEX = r'<annotation encoding="application/x-tex">((?:(?!</annotation>).)*)</annotation></semantics></math>'
FORMULA = re.compile(rf'<math display="(block|inline)"(?:(?!</math>).)*?{TEX}', re.DOTALL)
NUMBER = re.compile(r"\s*\\qquad\((\d+)\)\s*$")  # Quarto writes an equation's number into its TeX
EQUATION = re.compile(rf'<p>\s*<span id="(eq-[\w-]+)">(<math\b(?:(?!</math>).)*?{TEX})</span>\s*</p>', re.DOTALL)
# What site/sections.lua writes for Cell 0, as the table of contents asks for it: a heading, and the settings below it.
SETTINGS = re.compile(
    r'(<section id="section-0"[^>]*>)\s*<h2\b[^>]*>((?:(?!</h2>).)*)</h2>\s*<details class="code-fold"><summary>.*?</summary>',
    re.DOTALL,
)


def as_built_in(page: str) -> str:
    """A page of Quarto's as the built-in engine would show it; a page of that engine as it is."""
    if f'id="{CONTENT}"' not in page:
        return page
    page = FROM_ELSEWHERE.sub("", page)
    page = BODY.sub(lambda match: match[0] + SKIP, page, count=1)
    page = FORMULA.sub(_formula, EQUATION.sub(_equation, page))
    page = SETTINGS.sub(r'\1<details class="settings"><summary><h2>\2</h2></summary>', page)
    scripts = "\n".join(map(style, SCRIPTS))
    return page.replace("</body>", f"<script>\n{scripts}</script>\n</body>", 1)


def _equation(match: re.Match) -> str:
    name, formula, tex = match.groups()
    number = NUMBER.search(tex)
    if number is None:
        return match[0]
    made = _made(tex[: number.start()], "block")
    return f'<p class="equation" id="{name}">{made}<span>({number[1]})</span></p>' if made else match[0]


def _formula(match: re.Match) -> str:
    return _made(match[2], match[1]) or match[0]


def _made(tex: str, display: str) -> str:
    """The MathML of TeX that stands in a page; "" where it cannot be read."""
    made = mathml(unescape(tex), display == "block")
    return made if made.startswith("<math") else ""
