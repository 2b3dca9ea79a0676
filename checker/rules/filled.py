"""Nothing left blank, but for what goes beyond the core of a chapter."""

import re
from collections.abc import Iterator
from itertools import pairwise

from checker.reading import exercises
from checker.reading.markers import BEGIN
from checker.reading.todos import LONGEST, todo_at
from checker.rules.base import Remark, Submission, rule

BLANK_ANSWER = re.compile(r"^[ \t]*\*?_?your answer here\.?_?\*?[ \t]*$", re.IGNORECASE | re.MULTILINE)
BLANK_CODE = re.compile(r"[ \t]*raise[ \t]+NotImplementedError\b")
MARKER = re.compile(r"#[ \t]*(?:(?P<begin>student code here)|end student code)$")


def beyond_the_core(source: str) -> set[int]:
    """The numbers of the lines that belong to exercises and questions beyond the core, which may stay blank.

    An exercise or a question goes on to the next one, or to the end of its cell.
    """
    found = set()
    further = False
    lines = source.split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip() == BEGIN:
            todo = todo_at(lines[number : number + LONGEST])
            further = todo is not None and todo.further
        elif worth := exercises.WORTH.fullmatch(line.strip()):
            further = bool(worth.group(2))
        if further:
            found.add(number)
    return found


@rule(
    "F001",
    "error",
    why="An exercise that still raises NotImplementedError stops everything below it.",
    wrong="raise NotImplementedError",
    right="return (groups - mean) / (std + 1e-4)",
)
def exercise_not_filled(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        may_stay = beyond_the_core(cell.source)
        for line, text in enumerate(cell.source.split("\n"), 1):
            if BLANK_CODE.match(text) and line not in may_stay:
                yield cell.number, f"an exercise is not filled in (line {line})", "Replace the line by your code."


@rule(
    "F002",
    "error",
    why="The written questions count as much as the code.",
    wrong="Your answer here.",
    right="A sentence of your own.",
)
def answer_not_written(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.cells:
        if cell.is_code:
            continue
        may_stay = beyond_the_core(cell.source)
        lines = enumerate(cell.source.split("\n"), 1)
        blank = [number for number, line in lines if BLANK_ANSWER.match(line)]
        count = sum(number not in may_stay for number in blank)
        if count:
            more = len(blank) - count
            beyond = f", and {more} beyond the core, which may stay so" if more else ""
            said = f"{count} question{'s are' if count > 1 else ' is'} not answered (Your answer here.)"
            yield cell.number, said + beyond, "Write your answer in its place."


@rule(
    "F003",
    "error",
    why="Between the markers of an exercise there has to be code.",
    wrong="# student code here\n# TODO: the loss\n# end student code",
    right="# student code here\n# TODO: the loss\nloss = ...\n# end student code",
)
def exercise_empty(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        may_stay = beyond_the_core(cell.source)
        lines = [line.strip() for line in cell.source.split("\n")]
        markers = [(number, match) for number, line in enumerate(lines, 1) if (match := MARKER.match(line))]
        for (number, begin), (end, _) in pairwise([*markers, (len(lines) + 1, None)]):
            body = lines[number : end - 1]
            if begin["begin"] and all(not line or line.startswith("#") or line in ("pass", "...") for line in body):
                if number not in may_stay:
                    advice = "Write your code between the two marker lines."
                    yield cell.number, f"an exercise is empty (line {number})", advice


RULES = [exercise_not_filled, answer_not_written, exercise_empty]
