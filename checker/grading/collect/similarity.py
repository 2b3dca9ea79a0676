"""Notebooks that are like each other: pairs are shown, with both texts side by side, and nobody is accused.

Compared are runs of six tokens, the names of variables hidden, as in "Winnowing" (Schleimer, Wilkerson and Aiken, 2003)
without its sampling: a class is small. What was handed out is left out, and so is the worked solution, since right
answers are alike. What many have in common stays in, since many may have copied it.
"""

import io
import json
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from checker.reading.markers import BLANK_ANSWER
from checker.reading.notebook import joined
from checker.reading.syntax.statements import Modules

RUN = 6  # tokens
FEWEST = 20  # runs of one's own, below which two notebooks cannot be compared
THRESHOLD = 0.5  # of the smaller one's runs that both have
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
LONGEST_TEXT = 200_000  # characters of one cell that are looked at

Run = tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """A notebook as lines, and where each of its runs stands: the runs with the lines of their tokens."""

    student: str
    lines: tuple[str, ...]
    runs: dict[Run, frozenset[int]]


@dataclass(frozen=True)
class Pair:
    """Two notebooks: the share of the smaller one's runs that both have, and the lines where these stand."""

    first: Text
    second: Text
    share: float
    lines: tuple[frozenset[int], frozenset[int]]


def text_in(student: str, text: str, modules: Modules) -> Text:
    """A notebook's code and prose, of its JSON as text, and the code of the modules beside it."""
    cells = [{"cell_type": "code", "source": source} for _, source in modules]
    return text_of(student, {"cells": [*json.loads(text)["cells"], *cells]})


def text_of(student: str, content: dict) -> Text:
    """A notebook's code and prose, in order."""
    lines: list[str] = []
    runs: dict[Run, set[int]] = {}
    for cell in content["cells"]:
        source = joined(cell.get("source"))[:LONGEST_TEXT]
        tokens = _code(source) if cell.get("cell_type") == "code" else _prose(source)
        tokens = list(tokens)
        for place in range(len(tokens) - RUN + 1):
            piece = tokens[place : place + RUN]
            run = tuple(word for word, _ in piece)
            runs.setdefault(run, set()).update(len(lines) + line for _, line in piece)
        lines += [*source.split("\n"), ""]
    return Text(student, tuple(lines), {run: frozenset(where) for run, where in runs.items()})


def pairs(texts: list[Text], known: Iterable[Text], threshold: float = THRESHOLD) -> list[Pair]:
    """The pairs that have at least a share of their runs in common, most alike first.

    Args:
        known: what was handed out, and the worked solution.
    """
    left_out = {run for text in known for run in text.runs}
    own = [text.runs.keys() - left_out for text in texts]
    found = []
    for first, second in combinations(range(len(texts)), 2):
        smaller = min(len(own[first]), len(own[second]))
        both = own[first] & own[second]
        if smaller >= FEWEST and len(both) >= threshold * smaller and texts[first].student != texts[second].student:
            lines = tuple(frozenset(line for run in both for line in texts[one].runs[run]) for one in (first, second))
            found.append(Pair(texts[first], texts[second], len(both) / smaller, lines))
    return sorted(found, key=lambda pair: -pair.share)


def _code(source: str) -> Iterator[tuple[str, int]]:
    """The tokens of code with their lines: every name "n", every number "0", every string "s".

    Where a line is no Python it goes on below it.
    """
    text = io.StringIO(source)
    read = 0

    def next_line() -> str:
        nonlocal read
        read += 1
        return text.readline()

    while text.tell() < len(source):
        above = read
        try:
            yield from ((word, above + line) for word, line in _words(tokenize.generate_tokens(next_line)))
        except (tokenize.TokenError, SyntaxError):
            pass


def _words(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[str, int]]:
    """The tokens and their lines; an f-string, which since Python 3.12 comes in parts, is one."""
    around = 0  # f-strings in which a token stands
    for token in tokens:
        kind = tokenize.tok_name[token.type]
        line = token.start[0] - 1
        if kind.endswith("STRING_END"):
            around -= 1
        elif kind.endswith("STRING_START"):
            around += 1
            if around == 1:
                yield "s", line
        elif not around and token.type not in SKIPPED:
            yield _word(token), line


def _word(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
        return "n"
    return {tokenize.NUMBER: "0", tokenize.STRING: "s"}.get(token.type, token.string)


def _prose(source: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(source.split("\n")):
        if line.strip() != BLANK_ANSWER:
            yield from ((word.casefold(), number) for word in re.findall(r"\w+", line))
