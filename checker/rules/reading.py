"""What is said of a file that no rule can look at, and of a cell that is none."""

from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule


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


RULES = [not_a_cell]
