"""The index of the search: every section of every page with its text, formulas on one line.

It is a script and not a table of data, so that a page that was opened from disk can load it too; `search.js` does so when
somebody begins to search. Outputs of notebooks are left out: they are numbers. Quarto's site has Quarto's own search.
"""

import json
import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path

from checker.reading.website import NOTEBOOK
from checker.site.finish import API, FILES
from checker.site.terms import GLOSSARY

INDEX = FILES / "search.js"
COLOURS = re.compile(r'<span class="[a-z]{1,2}\d?">|</span>')  # of code: tens of thousands of tags without a word
HEADINGS = ("h2", "h3", "h4")
LEFT_OUT = ("style", "script", "svg", "form", "button", "noscript", "small", "nav", "header", "footer")
LEVEL = re.compile(r"\blevel\d\b")  # the class of a section that begins with its heading
OUTPUTS = {"output", "cell-output"}  # the classes of what a cell printed, of either engine
EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())
BEFORE = {"msub": ("_",), "msup": ("^",), "msubsup": ("_", "^"), "mfrac": (" / ",), "munder": ("_",), "mover": ("^",)}
BEFORE["munderover"] = BEFORE["msubsup"]
AROUND = re.compile(r"\s*([=<>≤≥+−-])\s*")


@dataclass
class Section:
    """A place of a page: its anchor, "" for what stands above the first heading, its heading and its words."""

    anchor: str
    heading: str = ""
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


class Sections(HTMLParser):
    """The sections of a page's HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found = [Section("")]
        self._silent = 0  # open elements of which the outermost is left out
        self._heading = ""  # the tag of the heading that is open
        self._place = ""  # of the section whose heading comes
        self._formula: list[list] = []  # of each open element of a formula its tag and the number of parts so far
        self.feed(COLOURS.sub("", html))
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if self._silent or tag in LEFT_OUT or OUTPUTS & set((named.get("class") or "").split()):
            self._silent += tag not in EMPTY
        elif tag == "math" or self._formula:
            self._begin_part(tag)
        elif tag == "section" and LEVEL.search(named.get("class") or ""):
            self._place = named.get("id") or ""
        elif tag in HEADINGS and (place := named.get("id") or self._place):
            self._heading = tag
            self._place = ""
            self.found.append(Section(place))
        elif tag not in ("code", "em", "strong", "a", "b", "i", "span", "sup", "sub"):
            self._say(" ")

    def _begin_part(self, tag: str) -> None:
        """A part of a formula begins: what stands between it and the part before is said."""
        if self._formula:
            above = self._formula[-1]
            signs = BEFORE.get(above[0], ())
            if 0 < above[1] <= len(signs):
                self._say(signs[above[1] - 1])
            above[1] += 1
        self._formula.append([tag, 0])

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            self._silent -= tag not in EMPTY
        elif self._formula:
            if tag == self._formula[-1][0]:
                self._formula.pop()
        elif tag == self._heading:
            self._heading = ""

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        self._say(_sign(data.strip()) if self._formula else data)

    def _say(self, text: str) -> None:
        section = self.found[-1]
        if self._heading:
            section.heading += text
        else:
            section.words.append(text)


def _sign(text: str) -> str:
    """A sign of a formula as it stands on a line: relations and names of functions keep their distance."""
    return f"{text} " if len(text) > 1 and text.isalpha() else AROUND.sub(r" \1 ", text)


def index(folder: Path, pages: list) -> str:
    """The script that hands the index over: of each page its address, its title, its kind and its sections.

    folder: where the finished pages are.    pages: as `builtin.Page`.
    """
    listed = []
    for page in pages:
        found = _sections(folder / page.target)
        found[0].words[:0] = [page.subtitle, " ", page.description, " "]
        sections = [[one.anchor, one.heading, one.text] for one in found]
        address = page.target.as_posix()
        listed.append({"address": address, "title": page.title, "kind": _kind(page.source), "sections": sections})
    return f"globalThis.searched = {_as_text(listed)};\n"


def _sections(page: Path) -> list[Section]:
    """The sections of a finished page, with their headings on one line."""
    html = page.read_text(encoding="utf-8")
    found = Sections(html[html.index("<main") :]).found
    return [replace(one, heading=" ".join(one.heading.split())) for one in found]


def _kind(source: Path) -> str:
    if source.suffix == NOTEBOOK:
        return "notebook"
    return {GLOSSARY: "term", API: "interface"}.get(source, "text")


def _as_text(data: list[dict]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
