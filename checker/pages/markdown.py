"""Markdown as HTML that may stand on a page: formulas as MathML, headings with places of ours, pictures inside."""

import html
import re
from dataclasses import dataclass

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from checker.pages.formulas import shown, unbroken
from checker.pages.sanitise import Pictures, bearable, no_picture, sanitised
from checker.reading.prose.page import define
from checker.reading.prose.parser import parser, read
from checker.reading.prose.tex import Names

HEADING = re.compile(r"<h([1-6])(?: [^>]*)?>(.*?)</h[1-6]>", re.DOTALL)
HEADING_TAG = re.compile(r"<(/?)h([1-6])\b")
EMPTY_HEAD = re.compile(r"<th((?: [^>]*)?)>\s*</th>")
LINES = re.compile(r"(<pre>(?:<span></span>)?)(.*)(</pre>)", re.DOTALL)
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Heading:
    """A heading of a text: where it is, what it says, its level as it was written, from 1."""

    anchor: str
    text: str
    level: int


def polished(page: str) -> str:
    """A finished page for who hears it, and for lines that break: headings without gaps, no heads of columns that say
    nothing, formulas that keep their full stop."""
    return unbroken(EMPTY_HEAD.sub(r"<td\1></td>", without_gaps(page)))


def without_gaps(page: str) -> str:
    """A page whose headings go down one level at a time: below a second comes a third, whatever its text skipped."""
    above: list[int] = []  # the levels as they were written, from the first to that of the last heading

    def levelled(tag: re.Match) -> str:
        level = int(tag[2])
        if not tag[1]:
            while above and above[-1] >= level:
                above.pop()
            above.append(level)
        return f"<{tag[1]}h{len(above) or level}"

    before, main, rest = page.partition("<main")
    content, end, after = rest.partition("</main>")
    return before + main + HEADING_TAG.sub(levelled, content) + end + after


def to_html(
    source: str, anchor: str = "", pictures: Pictures = no_picture, names: Names | None = None
) -> tuple[str, list[Heading]]:
    """Markdown as sanitised HTML, and its headings. They stand one level lower there, below the page's title.

    Args:
        anchor: what the headings' ids begin with; "" for none, where several such texts stand on a page.
        pictures: gives the pictures that came with the text by the address it uses for them.
        names: what the texts of the page define for each other; None for a text that stands alone.
    """
    if names is None:
        names = Names()
        define(source, names)
    text = read(source, names, anchor)
    body = Renderer().render(text.tokens, parser().options, text.env)
    if not bearable(body):
        return f"<pre>{html.escape(source)}</pre>", []
    body = sanitised(body, pictures)
    headings: list[Heading] = []

    def placed(match: re.Match) -> str:
        said = html.unescape(TAG.sub("", match[2])).strip()
        heading = Heading(f"{anchor}-{len(headings)}", said, int(match[1]))
        headings.append(heading)
        level = min(heading.level + 1, 6)
        place = f' id="{heading.anchor}"' if anchor else ""
        return f"<h{level}{place}>{match[2]}</h{level}>"

    return HEADING.sub(placed, body), headings


class Renderer(RendererHTML):
    """Tokens as HTML: a method for each kind that is shown otherwise than the parser's own way."""

    def __init__(self) -> None:
        super().__init__()
        self.rules = parser().renderer.rules | self.rules

    def formula(self, tokens, number, options, env) -> str:
        token = tokens[number]
        made = shown(token)
        words = env["names"].words.get(token.meta.get("id", ""))
        return f"{made}<span>({html.escape(words.rpartition(' ')[2])})</span>" if made and words else made

    def attributes(self, tokens, number, options, env) -> str:
        """Nothing but, in a heading, the place to which its name leads: what stands before has the rest."""
        place = tokens[number].meta.get("place")
        return f'<span id="{html.escape(place)}"></span>' if place else ""

    def image(self, tokens, number, options, env) -> str:
        """A picture; below one that has a name, the words of which Quarto makes its caption."""
        token = tokens[number]
        words = env["names"].words.get(token.meta.get("id", ""))
        made = super().image(tokens, number, options, env)
        if not words:
            return made
        if "fig-alt" in token.meta:
            token.attrs["alt"] = token.meta["fig-alt"]
            made = self.renderToken(tokens, number, options, env)
        return f"{made}<figcaption>{html.escape(words)}: {self.renderInline(token.children, options, env)}</figcaption>"

    def html_block(self, tokens, number, options, env) -> str:
        return self.renderInline(tokens[number].children, options, env)

    def fence(self, tokens, number, options, env) -> str:
        language = tokens[number].info.strip("{}. ").split() or [""]
        return highlighted(tokens[number].content, language[0])

    def code_block(self, tokens, number, options, env) -> str:
        return highlighted(tokens[number].content, "")

    def div_open(self, tokens, number, options, env) -> str:
        """A block of Quarto's: a callout as a quotation below its title, any other as what is in it."""
        given = tokens[number].meta
        kind = given.get("class", "").partition(" ")[0]
        if not kind.startswith("callout"):
            return "<div>"
        title = given.get("title") or kind.rpartition("-")[2].capitalize()
        return f"<blockquote><p><strong>{html.escape(title)}</strong></p>"

    def div_close(self, tokens, number, options, env) -> str:
        is_callout = tokens[number].meta.get("class", "").startswith("callout")
        return "</blockquote>" if is_callout else "</div>"

    def th_open(self, tokens, number, options, env) -> str:
        return _aligned(tokens[number])

    td_open = th_open

    def s_open(self, tokens, number, options, env) -> str:
        return "<del>"

    def s_close(self, tokens, number, options, env) -> str:
        return "</del>"


def _aligned(cell: Token) -> str:
    """The beginning of a table's cell, with the attribute that stands for the style that no page lets through."""
    side = str(cell.attrs.get("style", "")).removeprefix("text-align:")
    return f'<{cell.tag} align="{side}">' if side else f"<{cell.tag}>"


def highlighted(code: str, language: str) -> str:
    """Code in colours, plain where the language is not known; each line an element, which hangs where it wraps."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import TextLexer, get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        lexer = TextLexer()
    return LINES.sub(_as_elements, highlight(code, lexer, HtmlFormatter()))


def _as_elements(pre: re.Match) -> str:
    """Highlighted code whose lines are elements. Pygments closes its spans at the end of each line."""
    lines = pre[2].removesuffix("\n").split("\n")
    return pre[1] + "".join(f'<span class="li">{line}\n</span>' for line in lines) + pre[3]
