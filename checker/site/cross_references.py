"""Cross references of a `.qmd` page, written as Quarto reads them: numbered equations and figures, and links to them.

An equation is named behind its end, `$$ ... $$ {#eq-loss}`, a figure behind its address, `![words](a.png){#fig-a}`;
`@eq-loss` and `@fig-a` become "Equation 1" and "Figure 1", links to where they stand. `fig-alt="..."` behind a figure's
name is what is read to those who cannot see it: without it Quarto, which takes the words for the caption, says nothing.
"""

import re

KINDS = {"eq": "Equation", "fig": "Figure"}
EQUATION = re.compile(r"<p>(<math\b(?:(?!</p>).)*</math>)\s*\{#(eq-[\w-]+)\}</p>", re.DOTALL)
FIGURE = re.compile(
    r'<p>(<img\b[^>]*?\balt=")([^"]*)("[^>]*>)\{#(fig-[\w-]+)(?: fig-alt=(?:"|&quot;)([^"]*?)(?:"|&quot;))?\}</p>'
)
# Code is left alone: in it the sign has other meanings.
REFERENCE = re.compile(r"<(?:code|pre)\b.*?</(?:code|pre)>|(?<![\w@])@((eq|fig)-[\w-]*\w)", re.DOTALL)


def crossed(html: str) -> str:
    """The HTML of a page with its named equations and figures numbered and the references to them as links."""
    numbers: dict[str, int] = {}
    html = EQUATION.sub(lambda match: _equation(match, numbers), html)
    html = FIGURE.sub(lambda match: _figure(match, numbers), html)
    return REFERENCE.sub(lambda match: _link(match, numbers), html)


def _numbered(name: str, numbers: dict[str, int]) -> int:
    """The number of an equation or a figure, which is the next of its kind."""
    kind = name.partition("-")[0]
    numbers[name] = 1 + sum(other.startswith(f"{kind}-") for other in numbers)
    return numbers[name]


def _equation(match: re.Match, numbers: dict[str, int]) -> str:
    formula, name = match.groups()
    return f'<p class="equation" id="{name}">{formula}<span>({_numbered(name, numbers)})</span></p>'


def _figure(match: re.Match, numbers: dict[str, int]) -> str:
    before, words, after, name, alternative = match.groups()
    picture = before + (alternative or words) + after
    caption = f"Figure {_numbered(name, numbers)}: {words}"
    return f'<figure id="{name}">{picture}<figcaption>{caption}</figcaption></figure>'


def _link(match: re.Match, numbers: dict[str, int]) -> str:
    name, kind = match.groups()
    if name not in numbers:  # code has no name at all
        return match[0]
    return f'<a href="#{name}">{KINDS[kind]} {numbers[name]}</a>'
