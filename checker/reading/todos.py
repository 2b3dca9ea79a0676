"""The TODO of an exercise: a comment of one line or more that says what is wanted, and ends in what it is worth.

    # TODO: subtract each group's mean and divide by its (population) standard
    # deviation plus 1e-4 (3 points, 10 minutes)

The words in brackets end it, so a comment of the solution below it is no part of it. What goes beyond a chapter's core
says so there: `(3 points, 10 minutes, further)`. A TODO without such an end is its first line.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

BEGINS = re.compile(r"\s*# TODO: \S")
COMMENT = re.compile(r"\s*# (?P<text>(?!TODO: )\S.*)")
MARKER = re.compile(r"\s*# (?:end )?student code(?: here)?\s*")
WORTH = re.compile(r"\((?P<points>\d+(?:\.\d+)?) points?(?:, (?P<minutes>\d+) minutes?)?(?P<further>, further)?\)$")
LONGEST = 20  # lines of a comment that are read


@dataclass(frozen=True)
class Todo:
    """lines: the comment's own.    what: what it asks, in one line.    points, minutes: 0 where nothing is said.
    further: whether it goes beyond the chapter's core.
    """

    lines: tuple[str, ...]
    what: str
    points: float = 0
    minutes: int = 0
    further: bool = False


def todo_at(lines: list[str]) -> Todo | None:
    """The TODO that begins in the first of these lines; None where none does."""
    if not lines or not BEGINS.match(lines[0]):
        return None
    comment = [lines[0], *takewhile(lambda line: COMMENT.match(line) and not MARKER.fullmatch(line), lines[1:LONGEST])]
    for count, line in enumerate(comment, 1):
        worth = WORTH.search(line.rstrip())
        if worth:
            points, minutes, further = worth.group("points", "minutes", "further")
            own = tuple(comment[:count])
            return Todo(own, WORTH.sub("", _text(own)).rstrip(), float(points), int(minutes or 0), bool(further))
    return Todo((lines[0],), _text(lines[:1]))


def todos_in(source: str) -> Iterator[Todo]:
    """Every TODO of a cell's source, in order."""
    lines = source.split("\n")
    found = (todo_at(lines[place : place + LONGEST]) for place, line in enumerate(lines) if BEGINS.match(line))
    return (todo for todo in found if todo)


def _text(lines: Iterable[str]) -> str:
    """The words of a TODO, in one line."""
    return " ".join(line.strip().removeprefix("#").strip() for line in lines).removeprefix("TODO: ").rstrip()
