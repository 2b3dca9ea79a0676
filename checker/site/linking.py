"""Links in the running text of a finished page, put there by words.

Whichever engine made the page: its text is searched, its tags stay as they are. No link goes into another link, into
code, formulas, headings and what scripts fill.
"""

import html as escapes
import re
from collections.abc import Iterable
from dataclasses import dataclass

# A tag; a whole element of those that hold no running text, since code in colours is a thousand tags; a comment.
PIECE = re.compile(r"<!--.*?-->|<(pre|math|script|style)\b.*?</\1>|<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.DOTALL)
NAME = re.compile(r"</?([a-zA-Z][\w-]*)")
CLASSES = re.compile(r'\sclass="([^"]*)"')
EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())
NO_TEXT = frozenset("a button code h1 h2 h3 h4 h5 h6 header label math nav pre script select style summary svg".split())
NO_TEXT_CLASSES = frozenset("description gallery open watch gridworld try check references output cell-output".split())


@dataclass(frozen=True)
class Entry:
    """words: a pattern of what is linked.    address: where to, from the page.    kind: the link's class."""

    words: str
    address: str
    kind: str


def linked(page: str, entries: Iterable[Entry]) -> str:
    """A page on which the first words of each entry are a link, below `<main`. What is linked already stays so."""
    begin = page.find("<main")
    if begin < 0:
        return page
    end = page.find("</main>", begin)
    end = len(page) if end < 0 else end
    there = set(map(_place, re.findall(r'<a\s[^>]*?href="([^"]*)"', page[begin:end])))
    entries = list(entries)
    waiting = [entry for entry in entries if _place(entry.address) not in there]
    return page[:begin] + "".join(_pieces(page[begin:end], waiting, entries)) + page[end:]


def _place(address: str) -> str:
    """A page and a place on it, whatever folders lead there: Quarto writes `../docs/glossary.html#ratio` beside it."""
    return address.rpartition("/")[2]


def _pieces(content: str, waiting: list[Entry], entries: list[Entry]) -> Iterable[str]:
    """The content, text and tags in turn, with links in the text."""
    open_elements: list[tuple[str, bool]] = []
    done = 0
    for tag in PIECE.finditer(content):
        alone = any(closed for _, closed in open_elements)
        yield _with_links(content[done : tag.start()], waiting, entries, alone)
        yield tag[0]
        done = tag.end()
        if tag[1] is None:
            _follow(tag[0], open_elements)
    yield content[done:]


def _follow(tag: str, open_elements: list[tuple[str, bool]]) -> None:
    """Keep the list of open elements, each with whether text in it is left alone."""
    found = NAME.match(tag)
    if found is None or tag.endswith("/>"):
        return
    name = found[1].lower()
    if tag.startswith("</"):
        names = [one for one, _ in open_elements]
        if name in names:
            del open_elements[len(names) - 1 - names[::-1].index(name) :]
    elif name not in EMPTY:
        classes = CLASSES.search(tag)
        alone = name in NO_TEXT or bool(classes and NO_TEXT_CLASSES & set(classes[1].split()))
        open_elements.append((name, alone))


def _with_links(text: str, waiting: list[Entry], entries: list[Entry], alone: bool) -> str:
    """Text with a link at the first place of each waiting entry; the entries that got theirs no longer wait.

    A place within a longer word of any entry is none: "GRPO" is not linked in "Dr. GRPO", wherever that stands.
    """
    if alone or not text.strip():
        return text
    spans = {entry: [match.span() for match in re.finditer(entry.words, text)] for entry in entries}
    every = [span for found in spans.values() for span in found]
    places: list[tuple[int, int, Entry]] = []
    for entry in list(waiting):
        for start, end in spans[entry]:
            within = any(span != (start, end) and span[0] <= start and end <= span[1] for span in every)
            if not within and all(end <= other or behind <= start for other, behind, _ in places):
                places.append((start, end, entry))
                waiting.remove(entry)
                break
    for start, end, entry in sorted(places, key=lambda place: place[0], reverse=True):
        link = f'<a class="{entry.kind}" href="{escapes.escape(entry.address)}">{text[start:end]}</a>'
        text = text[:start] + link + text[end:]
    return text
