"""What the exercises of a notebook are worth: read here, for the checker, for a page and for grading.

In code the worth of an exercise stands at the end of its TODO, "(3 points, 10 minutes)"; in Markdown in the marker of
the answer, `<!-- student answer: 3 points -->`, and in a blank edition in the line that took the marker's place.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from checker.markers import ANSWER_END, ANSWER_WITH_POINTS, BEGIN, END
from checker.notebook import joined

TODO = re.compile(r"# TODO: (?P<what>.*?)(?: \((?P<points>[\d.]+) points?(?:, (?P<minutes>\d+) minutes?)?\))?$")
WORTH = re.compile(r"\*Worth ([\d.]+) points?\.\*")
QUESTION = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True)
class Exercise:
    """One exercise: its `key` ("cell-05/2", "cell-08/answer 3"), what it asks, what it is worth, how long it takes."""

    key: str
    what: str
    points: float  # 0 where nothing is said
    minutes: int  # 0 where nothing is said
    written: bool  # an answer in words, which a person reads
    filled_in: str = ""  # what stands in its place, the solution or the answer


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


def _in_code(name: str, lines: list[str]) -> Iterator[Exercise]:
    begins = [place for place, line in enumerate(lines[:-1]) if line.strip() == BEGIN]
    for number, place in enumerate(begins, 1):
        match = TODO.match(lines[place + 1].strip())
        what, points, minutes = match.group("what", "points", "minutes") if match else ("", None, None)
        below = takewhile(lambda line: line.strip() not in (BEGIN, END), lines[place + 1 :])
        yield Exercise(f"{name}/{number}", what, float(points or 0), int(minutes or 0), False, "\n".join(below))


def _in_words(name: str, lines: list[str]) -> Iterator[Exercise]:
    question = ""
    number = 0
    for place, line in enumerate(lines):
        question = _title(line) or question
        worth = _worth(line)
        if worth:
            number += 1
            answer = _answer(lines[place + 1 :])
            yield Exercise(f"{name}/answer {number}", question, float(worth.group(1)), 0, True, answer)


def _title(line: str) -> str:
    """The title that a line begins with in bold, "" for none."""
    bold = QUESTION.match(line.strip())
    return bold.group(1).rstrip(".") if bold else ""


def _worth(line: str) -> re.Match | None:
    return ANSWER_WITH_POINTS.fullmatch(line.strip()) or WORTH.fullmatch(line.strip())


def _answer(below: list[str]) -> str:
    """What is written below the worth of a question: to the end of the answer, the next question or the end of the cell."""
    answer = list(takewhile(lambda line: line.strip() != ANSWER_END and not _worth(line), below))
    if len(answer) < len(below) and _worth(below[len(answer)]):  # what stands above the next worth is its question
        last = max((place for place, line in enumerate(answer) if _title(line)), default=len(answer))
        answer = answer[:last]
    return "\n".join(answer).strip()
