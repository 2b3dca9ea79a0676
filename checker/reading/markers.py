"""The markers of exercises in the cells of a worked notebook.

In code, what lies between `# student code here` and `# end student code` is the solution; it begins with a
`# TODO: ...` that stays (`checker/reading/todos.py`). In Markdown it is what lies between `<!-- student answer: 3 points -->` and
`<!-- end student answer -->`; the points may be left out, and `3 points, further` goes beyond the core. Any doubt
about a marker is an error: a slip must never leak a solution.
"""

import re
from collections.abc import Iterator

BEGIN = "# student code here"
END = "# end student code"
ANSWER_BEGIN = "<!-- student answer -->"
ANSWER_WITH_POINTS = re.compile(r"<!-- student answer: (\d+(?:\.\d+)?) points?(, further)? -->")
ANSWER_END = "<!-- end student answer -->"
BLANK_ANSWER = "Your answer here."
RESEMBLES = re.compile(r"#.*\bstudent'?s?\b.*\bcode\b|#.*\bend\b.*\bstudent\b|<!--.*\bstudent\b", re.IGNORECASE)


class MarkerError(ValueError):
    """A marker is nested, unclosed, stray or misspelt; the message says where."""


def number_of(count: str, noun: str) -> str:
    """ "3 points", "1 point"."""
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def begins(line: str, begin: str) -> bool:
    """Does an exercise begin with this line? The marker of an answer may say what it is worth."""
    text = line.strip()
    return text == begin or (begin == ANSWER_BEGIN and ANSWER_WITH_POINTS.fullmatch(text) is not None)


def walk(lines: list[str], begin: str, end: str, where: str) -> Iterator[tuple[str, bool, int]]:
    """Each line, whether it belongs to a solution, and its position there, 0 outside.

    Markers themselves count as outside.
    """
    before = f"{where}, " if where else ""
    opened = None
    position = 0
    for number, line in enumerate(lines, 1):
        place = f"{before}line {number}"
        text = line.strip()
        if begins(line, begin):
            if opened is not None:
                raise MarkerError(
                    f"{place}: `{begin}` inside the exercise that begins in line {opened}. Close that one first."
                )
            opened = number
            yield line, False, 0
        elif text == end:
            if opened is None:
                raise MarkerError(f"{place}: `{end}` without a `{begin}` above it.")
            if position == 0:
                raise MarkerError(f"{place}: the exercise that begins in line {opened} is empty.")
            opened = None
            position = 0
            yield line, False, 0
        # A misspelt marker would leave its solution in the blank edition.
        elif RESEMBLES.search(line) and (text.startswith(("#", "<!--"))):
            raise MarkerError(f"{place}: {text!r} looks like a marker and is none. Write exactly `{begin}` or `{end}`.")
        else:
            yield line, opened is not None, position
            position += opened is not None
    if opened is not None:
        raise MarkerError(f"{before}line {opened}: this exercise is not closed by `{end}`.")
