"""The exercises of a notebook and their worth: read here, for the checker, for a page and for grading.

In code the worth of an exercise stands at the end of its TODO, "(3 points, 10 minutes)"; in Markdown in the marker of
the answer, `<!-- student answer: 3 points -->`, and in a blank edition in the line that took the marker's place. What
goes beyond the core says so there, "(3 points, 10 minutes, further)" and `<!-- student answer: 3 points, further -->`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from checker.reading.markers import ANSWER_END, ANSWER_WITH_POINTS, BEGIN, END
from checker.reading.notebook import joined
from checker.reading.todos import Todo, todo_at

WORTH = re.compile(r"\*Worth (\d+(?:\.\d+)?) points?(, further)?\.\*")
QUESTION = re.compile(r"\*\*(.+?)\*\*")
NOTHING_ASKED = Todo((), "")


@dataclass(frozen=True)
class Exercise:
    """One exercise: its `key` ("cell-05/2", "cell-08/answer 3"), what it asks, what it is worth, how long it takes."""

    key: str
    what: str
    points: float  # 0 where nothing is said
    minutes: int  # 0 where nothing is said
    written: bool  # an answer in words, which a person reads
    filled_in: str = ""  # what stands in its place, the solution or the answer
    further: bool = False  # beyond the core of its chapter
    wording: str = ""  # the question in full, as it stands above its worth


def exercises(cells: Iterable[dict]) -> list[Exercise]:
    """The exercises in a notebook's cells (its JSON), in order."""
    readers = {"code": _in_code, "markdown": _in_words}
    found: list[Exercise] = []
    for cell in cells:
        kind = cell.get("cell_type")  # of a stranger's notebook it may be anything
        if isinstance(kind, str) and kind in readers:
            found += readers[kind](cell.get("id", ""), joined(cell.get("source")).split("\n"))
    return found


def titles(cells: Iterable[dict]) -> frozenset[str]:
    """The titles in bold of the questions in a notebook's Markdown, and whatever else begins a line in bold there."""
    lines = (
        line for cell in cells if cell.get("cell_type") == "markdown" for line in joined(cell.get("source")).split("\n")
    )
    return frozenset(filter(None, map(_title, lines)))


def total(found: Iterable[Exercise]) -> float:
    """The points of these exercises together."""
    return sum(exercise.points for exercise in found)


def minutes(found: Iterable[Exercise], further: bool) -> int:
    """The minutes that the code of the core takes, or of what goes beyond it."""
    return sum(exercise.minutes for exercise in found if exercise.further == further)


def _in_code(name: str, lines: list[str]) -> Iterator[Exercise]:
    begins = [place for place, line in enumerate(lines[:-1]) if line.strip() == BEGIN]
    for number, place in enumerate(begins, 1):
        todo = todo_at(lines[place + 1 :]) or NOTHING_ASKED
        below = takewhile(lambda line: line.strip() not in (BEGIN, END), lines[place + 1 :])
        key = f"{name}/{number}"
        yield Exercise(key, todo.what, todo.points, todo.minutes, False, "\n".join(below), todo.further)


def _in_words(name: str, lines: list[str]) -> Iterator[Exercise]:
    question = ""
    begins = 0
    number = 0
    for place, line in enumerate(lines):
        if _title(line):
            question = _title(line)
            begins = place
        worth = _worth(line)
        if worth:
            number += 1
            answer = _answer(lines[place + 1 :])
            wording = "\n".join(lines[begins:place]).strip() if question else ""
            key = f"{name}/answer {number}"
            yield Exercise(key, question, float(worth.group(1)), 0, True, answer, bool(worth.group(2)), wording)


def _title(line: str) -> str:
    """The title that a line begins with in bold, "" for none."""
    bold = QUESTION.match(line.strip())
    return bold.group(1).rstrip(".") if bold else ""


def _worth(line: str) -> re.Match | None:
    return ANSWER_WITH_POINTS.fullmatch(line.strip()) or WORTH.fullmatch(line.strip())


def _answer(below: list[str]) -> str:
    """The text below the worth of a question: to the end of the answer, the next question or the end of the cell."""
    answer = list(takewhile(lambda line: line.strip() != ANSWER_END and not _worth(line), below))
    if len(answer) < len(below) and _worth(below[len(answer)]):  # what stands above the next worth is its question
        last = max((place for place, line in enumerate(answer) if _title(line)), default=len(answer))
        answer = answer[:last]
    return "\n".join(answer).strip()
