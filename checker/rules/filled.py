"""Nothing left blank."""

import re
from collections.abc import Iterator
from itertools import pairwise
from textwrap import shorten

from checker.rules.base import Remark, Submission, rule

BLANK_ANSWER = re.compile(r"^[ \t]*\*?_?your answer here\.?_?\*?[ \t]*$", re.IGNORECASE | re.MULTILINE)
BLANK_CODE = re.compile(r"^[ \t]*raise[ \t]+NotImplementedError\b.*$", re.MULTILINE)
MARKER = re.compile(r"^[ \t]*#[ \t]*(?:(?P<begin>student code here)|end student code)[ \t]*$", re.MULTILINE)


@rule(
    "F001",
    "error",
    why="An exercise that still raises NotImplementedError stops everything below it.",
    wrong='raise NotImplementedError("TODO: the group advantages")',
    right="return (groups - mean) / (std + 1e-4)",
)
def exercise_not_filled(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        for match in BLANK_CODE.finditer(cell.source):
            line = cell.source[: match.start()].count("\n") + 1
            yield (
                cell.number,
                f"an exercise is not filled in: {shorten(match[0], 110, placeholder=' ...')} (line {line})",
                "Replace the line by your code.",
            )


@rule(
    "F002",
    "error",
    why="The written questions count as much as the code.",
    wrong="Your answer here.",
    right="A sentence of your own.",
)
def answer_not_written(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.cells:
        if not cell.is_code and (count := len(BLANK_ANSWER.findall(cell.source))):
            yield (
                cell.number,
                f"{count} question{'s are' if count > 1 else ' is'} not answered (Your answer here.)",
                "Write your answer in its place.",
            )


@rule(
    "F003",
    "error",
    why="Between the markers of an exercise there has to be code.",
    wrong="# student code here\n# TODO: the loss\n# end student code",
    right="# student code here\n# TODO: the loss\nloss = ...\n# end student code",
)
def exercise_empty(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        for begin, end in pairwise([*MARKER.finditer(cell.source), None]):
            if not begin["begin"]:
                continue
            body = cell.source[begin.end() : end.start() if end else len(cell.source)]
            lines = [line.strip() for line in body.splitlines()]
            if all(not line or line.startswith("#") or line in ("pass", "...") for line in lines):
                number = cell.source[: begin.start()].count("\n") + 1
                yield (
                    cell.number,
                    f"an exercise is empty (line {number})",
                    "Write your code between the two marker lines.",
                )


RULES = [exercise_not_filled, answer_not_written, exercise_empty]
