"""What is said of a file that no rule can look at."""

from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule


@rule(
    "U001",
    "error",
    why="The file is empty, cut off, not a notebook, or holds the markers of a merge that was not sorted out. Nobody "
    "can open it.",
    wrong='<<<<<<< HEAD\n "execution_count": 3,\n=======\n "execution_count": 5,\n>>>>>>> main',
    right="A file that Jupyter opens: open it there, run it, save it, and hand in that file.",
)
def cannot_be_read(submission: Submission) -> Iterator[Remark]:
    """Never speaks: what became a submission has been read. `check` reports under this code what has not."""
    return iter(())
