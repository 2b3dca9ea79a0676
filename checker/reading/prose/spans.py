"""Formulas and code in a line of Markdown: where they begin and where they end.

A formula stands between dollars as Pandoc reads them, or as Jupyter alone does where TeX stands between them
(`28$\\times$28`, `$ \\alpha $`); between `\\\\(` and `\\\\)`, `\\\\[` and `\\\\]`; or in an environment of mathematics.
A price is none: "$5 and $6".
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from checker.reading.prose.tex import ENVIRONMENTS, group_end

MARKS = "\\^_=<>{"  # of TeX: between dollars they make a formula of what Pandoc leaves as text
BRACKETS = {"\\\\(": ("\\\\)", False), "\\\\[": ("\\\\]", True)}
BEGIN = "\\begin{"
LONGEST = 4_000  # characters of a formula; a longer one is text
MOST_WORDS = 50  # groups of words with dollars in them, in one formula


@dataclass(frozen=True)
class Span:
    """A piece of a text, from `start` to before `end`.

    tex: what a formula says, None for code.    display: it stands on a line of its own.
    """

    start: int
    end: int
    tex: str | None = None
    display: bool = False


class Marks:
    """The places of a text where something may begin or end.

    all: of every dollar, tick and backslash.    dollars: of those without a backslash.
    ticks: of the runs of ticks, by their length.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.all = [place for place, letter in enumerate(text) if letter in "$`\\"]
        self.dollars: list[int] = []
        self.ticks: dict[int, list[int]] = defaultdict(list)
        behind = 0
        for place in self.all:
            if place < behind:
                continue
            behind = place + _width(text, place)
            if text[place] == "$":
                self.dollars.append(place)
            elif text[place] == "`":
                self.ticks[behind - place].append(place)


@lru_cache(maxsize=8)
def marks(text: str) -> Marks:
    return Marks(text)


def _width(text: str, place: int) -> int:
    """The length of what begins at a mark: a run of ticks, a backslash and what it is before, a dollar."""
    if text[place] != "`":
        return 2 if text[place] == "\\" else 1
    end = place
    while end < len(text) and text[end] == "`":
        end += 1
    return end - place


def spans(text: str, start: int = 0, until: int | None = None) -> Iterator[Span]:
    """The formulas and the code that begin in a part of a text, one behind the other."""
    known = marks(text)
    behind = start
    for number in range(bisect_left(known.all, start), len(known.all)):
        place = known.all[number]
        if until is not None and place >= until:
            return
        if place < behind:
            continue
        found = _at(known, place)
        behind = found.end if found else place + _width(text, place)
        if found:
            yield found


def outside(text: str) -> str:
    """A text without its code and its formulas."""
    pieces, position = [], 0
    for span in spans(text):
        pieces.append(text[position : span.start])
        position = span.end
    return "".join(pieces) + text[position:]


def formula_at(text: str, position: int) -> Span | None:
    """The formula that begins at a place of a text; None where none does."""
    found = _at(marks(text), position)
    return None if found is None or found.tex is None else found


def _at(known: Marks, position: int) -> Span | None:
    letter = known.text[position]
    if letter == "`":
        return _code(known, position)
    if letter == "$":
        return _between_dollars(known, position)
    if letter == "\\":
        return _environment(known.text, position) or _in_brackets(known.text, position)
    return None


def _code(known: Marks, position: int) -> Span | None:
    length = _width(known.text, position)
    same = known.ticks[length]
    after = bisect_left(same, position + length)
    return Span(position, same[after] + length) if after < len(same) else None


def _between_dollars(known: Marks, position: int) -> Span | None:
    text = known.text
    is_double = text.startswith("$$", position)
    begin = position + (2 if is_double else 1)
    end = _next_dollar(known, begin)
    while is_double and end is not None and not text.startswith("$$", end):
        end = _next_dollar(known, end + 1)
    if end is None or end - begin > LONGEST:
        return None
    inside = text[begin:end]
    if not inside.strip() or _has_blank_line(inside) or inside.count("`") % 2:  # it ends in code
        return None
    if is_double:
        return Span(position, end + 2, inside, True)
    is_pandocs = not inside[0].isspace() and not inside[-1].isspace() and not text[end + 1 : end + 2].isdigit()
    return Span(position, end + 1, inside) if is_pandocs or _is_tex(inside) else None


def _is_tex(inside: str) -> bool:
    """True for what Jupyter alone takes for a formula and nobody for two prices with words between them."""
    stripped = inside.strip()
    if "\n" in inside or (stripped[0].isdigit() and "\\" not in stripped):
        return False
    return any(mark in stripped for mark in MARKS) or (len(stripped) == 1 and stripped.isalpha())


def _next_dollar(known: Marks, position: int) -> int | None:
    """The next dollar that is not in the words of a formula: in `\\text{if $x$}` a formula stands in them."""
    for _ in range(MOST_WORDS):
        after = bisect_left(known.dollars, position)
        if after == len(known.dollars):
            break
        end = known.dollars[after]
        words = known.text.find("\\text", position, end)
        brace = known.text.find("{", words, end) if words >= 0 else -1
        behind = group_end(known.text, brace) if brace >= 0 else -1
        if behind <= end:
            return end
        position = behind
    return None


def _has_blank_line(inside: str) -> bool:
    return "\n" in inside and any(not line.strip() for line in inside.strip().split("\n"))


def _environment(text: str, position: int) -> Span | None:
    """An environment of mathematics that stands without dollars, as Jupyter reads it."""
    if not text.startswith(BEGIN, position):
        return None
    name = text[position + len(BEGIN) : text.find("}", position)]
    if name.rstrip("*") not in ENVIRONMENTS:
        return None
    opening, closing = f"\\begin{{{name}}}", f"\\end{{{name}}}"
    depth, behind = 1, position + len(opening)
    while depth:
        end = text.find(closing, behind, position + LONGEST)
        if end < 0:
            return None
        depth += text.count(opening, behind, end) - 1
        behind = end + len(closing)
    return Span(position, behind, text[position:behind], True)


def _in_brackets(text: str, position: int) -> Span | None:
    closing, display = BRACKETS.get(text[position : position + 3], ("", False))
    end = text.find(closing, position + 3, position + LONGEST) if closing else -1
    return Span(position, end + 3, text[position + 3 : end], display) if end >= 0 else None
