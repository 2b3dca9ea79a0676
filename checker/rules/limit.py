"""The limit of 40,000 characters, counted in code points of the converted notebook."""

from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule

ALMOST = 0.9


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
    return f"Begin with cell {largest.cell.number}: its {part} alone has {size:,} characters."


def bars(submission: Submission, width: int = 40, most: int = 60) -> list[str]:
    """A bar for each cell, of many for the largest: the characters of its source (=) and its output (-)."""
    largest = sorted(submission.converted, key=lambda section: -section.characters)[:most]
    longest = max((section.characters for section in largest), default=1) or 1
    lines = ["characters of each cell, source (=) and output (-):"]
    for section in sorted(largest, key=lambda section: section.cell.number):
        source = len(section.source)
        output = len(section.output)
        bar = "=" * round(width * source / longest) + "-" * round(width * output / longest)
        lines.append(f"cell {section.cell.number:3d} {bar:<{width + 1}} {source:6,} + {output:6,}")
    if (rest := len(submission.converted) - len(largest)) > 0:
        lines.append(f"and {rest:,} smaller cells")
    return lines


RULES = [over_the_limit, near_the_limit]
