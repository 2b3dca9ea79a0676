"""Markdown as HTML that may stand on a page: formulas as MathML, headings with places of ours, pictures inside."""

import html
import re
from dataclasses import dataclass
from functools import lru_cache

from checker.pages.formulas import formulas, outside_code, unbroken
from checker.pages.parts import Parts, without_places
from checker.pages.sanitise import Pictures, bearable, no_picture, sanitised

HEADING = re.compile(r"<h([1-6])(?: [^>]*)?>(.*?)</h[1-6]>", re.DOTALL)
HEADING_TAG = re.compile(r"<(/?)h([1-6])\b")
EMPTY_HEAD = re.compile(r"<th((?: [^>]*)?)>\s*</th>")
LINES = re.compile(r"(<pre>(?:<span></span>)?)(.*)(</pre>)", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
REFERENCE = re.compile(r"(?<![\w@])@(fig-[\w-]{1,60})")


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
    source: str, anchor: str = "", pictures: Pictures = no_picture, figures: dict[str, int] | None = None
) -> tuple[str, list[Heading]]:
    """Markdown as sanitised HTML, and its headings. They stand one level lower there, below the page's title.

    Args:
        anchor: what the headings' ids begin with; "" for none, where several such texts stand on a page.
        pictures: gives the pictures that came with the text by the address it uses for them.
        figures: the numbers of the page's figures by name; `@fig-name` is then a link to one.
    """
    parts = Parts()
    free = outside_code(without_places(source), lambda text: _references(formulas(text, parts), figures or {}, parts))
    body = parts.fill(_reader()(free))
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


@lru_cache
def _reader():
    """The reader of Markdown: the dialect of notebooks, with code in colours and without their formulas.

    It lets every address and every tag through, as what it makes is sanitised.
    """
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def block_code(self, code: str, info: str | None = None) -> str:
            language = (info or "").split()[0] if (info or "").split() else ""
            return highlighted(code, language)

    return mistune.create_markdown(
        renderer=Renderer(escape=False, allow_harmful_protocols=True),
        plugins=["strikethrough", "table", "url", "def_list"],
    )


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


def _references(text: str, figures: dict[str, int], parts: Parts) -> str:
    """Markdown in which a place for a link stands where `@fig-name` names a figure of the page."""

    def link(match: re.Match) -> str:
        number = figures.get(match[1])
        return match[0] if number is None else parts.put(f'<a href="#{match[1]}">Figure {number}</a>')

    return REFERENCE.sub(link, text) if figures else text
