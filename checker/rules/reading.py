"""Findings on a file that no rule can look at, and on a cell that is not valid."""

import sys
from collections.abc import Iterator

from checker.reading.syntax.trees import cells_not_python
from checker.rules.base import Remark, Submission, rule

ADVICE = (
    "Mend the line, or one above it, and run the cell again. If it runs in a newer Python of yours, write it in a form that"
    " Python 3.11 reads."
)


@rule(
    "U001",
    "error",
    why=(
        "The file is empty, cut off, not a notebook, or holds the markers of a merge that was not sorted out."
        " Nobody can open it."
    ),
    wrong='<<<<<<< HEAD\n "execution_count": 3,\n=======\n "execution_count": 5,\n>>>>>>> main',
    right="A file that Jupyter opens: open it there, run it, save it, and hand in that file.",
)
def cannot_be_read(submission: Submission) -> Iterator[Remark]:
    """Never speaks: what became a submission has been read. `check` reports under this code what has not."""
    return iter(())


@rule(
    "U002",
    "error",
    why=(
        "The file is a notebook, but one of its cells is not what a cell can be. Jupyter complains, or does"
        " not show it."
    ),
    wrong='{"cell_type": "text", "source": 3}',
    right='{"cell_type": "markdown", "source": "Three.", "metadata": {}}',
)
def not_a_cell(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.cells:
        if cell.flaw:
            yield (
                cell.number,
                f"this is not a valid cell: {cell.flaw}",
                "Open the notebook in Jupyter, mend it, and save.",
            )


@rule(
    "U003",
    "error",
    why="A cell that Python cannot read stops every run of the notebook there, and no rule can look at its code.",
    wrong="rewards = torch.tensor([1.0, 0.0]",
    right="rewards = torch.tensor([1.0, 0.0])",
)
def not_python(submission: Submission) -> Iterator[Remark]:
    running = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    for number, error in cells_not_python(submission.notebook):
        yield number, f"{running} cannot read this cell, line {error.lineno}: {error.msg}", ADVICE


RULES = [not_a_cell, not_python]
