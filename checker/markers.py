"""The markers of exercises, and what becomes of a cell between them in a blank edition.

In code, what lies between `# student code here` and `# end student code` is the solution; its first line is a
`# TODO: ...` that stays. In Markdown it is what lies between `<!-- student answer -->` and `<!-- end student
answer -->`. The transforms are pure, lines to lines, and any doubt about a marker is an error: a slip must
never leak a solution.
"""

import re
from collections.abc import Iterator

BEGIN = "# student code here"
END = "# end student code"
ANSWER_BEGIN = "<!-- student answer -->"
ANSWER_END = "<!-- end student answer -->"
BLANK_ANSWER = "Your answer here."
RESEMBLES = re.compile(r"#.*\bstudent'?s?\b.*\bcode\b|#.*\bend\b.*\bstudent\b|<!--.*\bstudent\b", re.IGNORECASE)


class MarkerError(ValueError):
    """A marker is nested, unclosed, stray or misspelt; the message says where."""


def blank_code(lines: list[str], where: str = "") -> list[str]:
    """The lines of a code cell with each solution replaced by an error that repeats its TODO.

    Raises:
        MarkerError: markers are not in pairs, are misspelt, or an exercise does not begin with a TODO.
    """
    kept: list[str] = []
    for line, inside, position in walk(lines, BEGIN, END, where):
        if not inside:
            kept.append(line)
            continue
        if position == 0:
            if not re.match(r"\s*# TODO: \S", line):
                raise MarkerError(
                    f"{where}: the line after `{BEGIN}` must be `# TODO: ...`, and it is {line.strip()!r}."
                )
            kept.append(line)
            indent = line[: len(line) - len(line.lstrip())]
            words = line.strip().removeprefix("# ").replace("\\", "\\\\").replace('"', '\\"')
            kept.append(f'{indent}raise NotImplementedError("{words}")')
    return kept


def blank_markdown(lines: list[str], where: str = "") -> list[str]:
    """A Markdown cell's lines with each answer replaced by `Your answer here.` Errors as in `blank_code`."""
    kept: list[str] = []
    for line, inside, _ in walk(lines, ANSWER_BEGIN, ANSWER_END, where):
        if not inside:
            kept.append(BLANK_ANSWER if line.strip() == ANSWER_BEGIN else line)
    return [line for line in kept if line.strip() != ANSWER_END]


def walk(lines: list[str], begin: str, end: str, where: str) -> Iterator[tuple[str, bool, int]]:
    """Each line, whether it belongs to a solution, and its position there.

    Markers themselves count as outside.
    """
    opened = None
    position = 0
    for number, line in enumerate(lines, 1):
        place = f"{where}, line {number}" if where else f"line {number}"
        text = line.strip()
        if text == begin:
            if opened is not None:
                raise MarkerError(
                    f"{place}: `{begin}` inside the exercise that begins in line {opened}. Close that one first."
                )
            opened = number
            position = 0
            yield line, False, 0
        elif text == end:
            if opened is None:
                raise MarkerError(f"{place}: `{end}` without a `{begin}` above it.")
            if position == 0:
                raise MarkerError(f"{place}: the exercise that begins in line {opened} is empty.")
            opened = None
            yield line, False, 0
        elif RESEMBLES.search(line) and (text.startswith(("#", "<!--"))):
            raise MarkerError(f"{place}: {text!r} looks like a marker and is none. Write exactly `{begin}` or `{end}`.")
        else:
            yield line, opened is not None, position
            position += opened is not None
    if opened is not None:
        raise MarkerError(
            f"{where}, line {opened}: this exercise is not closed by `{end}`."
            if where
            else f"line {opened}: not closed by `{end}`."
        )
