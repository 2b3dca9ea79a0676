"""The limit of 40,000 characters, counted in code points of the converted notebook."""

import re
from collections.abc import Iterator
from textwrap import shorten

from checker.rules.base import Remark, Submission, rule

ALMOST = 0.9
NAME = 44  # characters of a cell's name beside its bar
PICTURE = re.compile(r"data:image/[\w.+-]{1,20};base64,[A-Za-z0-9+/=]{200,}+")


@rule(
    "L001",
    "error",
    why=("Submissions are read by people and by tools that accept 40,000 characters. What is beyond them is not read."),
    wrong="A training loop that prints every step.",
    right="A training loop that prints an average every 10 steps.",
)
def over_the_limit(submission: Submission) -> Iterator[Remark]:
    used = len(submission.markdown)
    if used > submission.limit:
        yield (
            None,
            f"{used:,} characters of {submission.limit:,}, {used - submission.limit:,} too many",
            _what_to_cut(submission),
        )


@rule(
    "L002",
    "note",
    why="A last run that prints a little more would go over the limit.",
    wrong="39,500 of 40,000 characters.",
    right="Below 36,000 characters.",
)
def near_the_limit(submission: Submission) -> Iterator[Remark]:
    used = len(submission.markdown)
    if ALMOST * submission.limit < used <= submission.limit:
        yield None, f"{used:,} characters of {submission.limit:,}", _what_to_cut(submission)


def _what_to_cut(submission: Submission) -> str:
    largest = max(submission.converted, key=lambda section: section.characters)
    part, size = max(("output", len(largest.output)), ("source", len(largest.source)), key=lambda pair: pair[1])
    place = submission.place(largest.cell.number)
    if part == "source" and (pictures := PICTURE.findall(largest.source)):
        size = sum(map(len, pictures))
        return f"Begin with {place}: a picture that was pasted into its text takes {size:,} characters. Take it out."
    return f"Begin with {place}: its {part} alone has {size:,} characters."


def bars(submission: Submission, width: int = 30, most: int = 8) -> list[str]:
    """A bar for each of the largest cells: the characters of its source (=) and its output (-)."""
    largest = sorted(submission.converted, key=lambda section: -section.characters)[:most]
    longest = max((section.characters for section in largest), default=1) or 1
    lines = ["the largest cells, characters of source (=) and output (-):"]
    for section in sorted(largest, key=lambda section: section.cell.number):
        source = len(section.source)
        output = len(section.output)
        bar = "=" * round(width * source / longest) + "-" * round(width * output / longest)
        name = shorten(submission.place(section.cell.number), NAME, placeholder=" ...")
        lines.append(f"{name:<{NAME}} {bar:<{width + 1}} {source:6,} + {output:6,}")
    if (rest := len(submission.converted) - len(largest)) > 0:
        lines.append(f"and {rest:,} smaller cells")
    return lines


RULES = [over_the_limit, near_the_limit]
