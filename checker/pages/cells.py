"""The words about a code cell on a page: its heading, the summary of its fold, the texts of its pictures.

All of it is in the cell already: in the first line, `# Cell 4: Reward function`, and in Quarto's options above it,
`#| fig-cap: ...`. Nothing of it is asked for twice.
"""

import re

from checker.reading.layout import ABOVE_A_LABEL, LABEL, label_line, label_of
from checker.reading.markers import BEGIN
from checker.reading.notebook import Cell
from checker.reading.options import LONGEST, OPTION, nth, options

COMMENT = re.compile(r"#+\s*(.*)")


def code_of(cell: Cell) -> str:
    """The source without its options."""
    lines = cell.source.lstrip("\n").split("\n")
    while lines and OPTION.match(lines[0]):
        lines.pop(0)
    return "\n".join(lines)


def words(cell: Cell) -> str:
    """The title in a cell's first line, "Reward function" of `# Cell 4: Reward function`; "" without a comment."""
    line = label_line(cell)
    if cell.is_code and not line.startswith("#"):
        return ""
    line = line.strip("#=-%*_… \t")
    label = LABEL.match(line)
    return (label[2] if label else line).strip(":.-–—)… \t")


def fold(cell: Cell) -> str:
    """The title of a cell's fold: "Code: " and the comment below the cell's name, or its first line; "Code" without.

    The heading above the fold has the name already.
    """
    asked = options(cell).get("code-summary")
    if asked:
        return asked[0]
    lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
    lines = [line for line in lines if not ABOVE_A_LABEL.match(line)]
    if label_of(cell) is not None:
        lines = lines[1:]
    comment = COMMENT.match(lines[0]) if lines else None
    return f"Code: {comment[1][:LONGEST]}" if comment and comment[1] else "Code"


def is_exercise(cell: Cell) -> bool:
    """True for a cell whose code a reader came for; on a page it is open, and all other code folded."""
    return any(line.strip() == BEGIN for line in cell.source.splitlines())


def caption(cell: Cell, number: int) -> str:
    """The caption of a cell's picture, counted from 0; "" without one."""
    return nth(options(cell).get("fig-cap", []), number)


def alternative(cell: Cell, number: int) -> str:
    """The text read to those who cannot see a picture: its `fig-alt`, else its caption, else the cell's title."""
    return nth(options(cell).get("fig-alt", []), number) or caption(cell, number) or untitled_picture(cell)


def untitled_picture(cell: Cell) -> str:
    """The words for a picture of which the notebook says nothing."""
    return f"Figure: {words(cell) or 'output of a cell'}"
