"""Answers that a blank edition would keep: text of Cell 8 below a question with points that no marker takes out.

    **Success (3 points).** Did it learn the task?

    It did: the reward rose to 0.9.

The second paragraph would go to students; so would one that stands behind the end of an answer. Said as a warning, since
nobody but the author can tell an answer from the rest of a question.
"""

import re
from collections.abc import Iterator
from textwrap import shorten

from checker.reading.layout import place_of, sections
from checker.reading.markers import ANSWER_BEGIN, ANSWER_END, begins
from checker.reading.notebook import Notebook

ANALYSIS = 8
LONGEST = 60  # characters of what is kept that a warning shows
TITLE = re.compile(r"\s*(?:(?:\d+\.|[-*]) +)?(?:#+ |\*\*|\*(?!Worth )[A-Z])")  # a heading, or words in bold or italics
POINTS = re.compile(r"\b\d+(?:\.\d+)? points?\b|\|\s*points\s*\|")  # the second heads a table of points


def kept_answers(notebook: Notebook) -> list[str]:
    """A sentence for each question of Cell 8 with points whose answer is not between markers."""
    above = sections(notebook)
    return [
        f"{notebook.path}, {place_of(cell, above)}: {kept!r} stands under a question with points and goes to students as"
        f" it is. If it is an answer, put it between `<!-- student answer: 3 points -->` and `{ANSWER_END}`."
        for cell in above.get(ANALYSIS, [])
        if not cell.is_code
        for kept in _kept(cell.source.split("\n"))
    ]


def _kept(lines: list[str]) -> Iterator[str]:
    """The beginning of what is kept under each question that says points: below its end, or all without an answer."""
    for question in _questions(lines):
        ends = [place for place, line in enumerate(question) if line.strip() == ANSWER_END]
        below = [line.strip() for line in question[ends[-1] + 1 :] if line.strip()] if ends else question
        if below and any(POINTS.search(line) for line in question):
            yield shorten(below[0], LONGEST, placeholder=" ...")


def _questions(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each question: from its title to the next title that stands in no answer."""
    question: list[str] = []
    in_answer = False
    for line in lines:
        in_answer = (in_answer or begins(line, ANSWER_BEGIN)) and line.strip() != ANSWER_END
        if question and not in_answer and TITLE.match(line):
            yield question
            question = []
        question.append(line)
    yield question
