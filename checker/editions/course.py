"""The course as it is handed on: what its notebooks need wherever they run, and the worked notebooks themselves."""

from pathlib import Path

from checker.reading.notebook import Unreadable

# Folders of the project that a notebook needs beside itself: here, in a box, on Gradescope, at a student's. The sweeps
# are the recorded runs that `shared.recorded` reads, with the programs that made them. A model that was fetched stays.
NEEDED = ("checker", "shared", "models/course-lm", "benchmarks/sweeps")


def worked_notebooks(root: Path) -> list[Path]:
    """The worked notebooks of a course, by name.

    Raises:
        Unreadable: there are none, as in what students get.
    """
    found = sorted((root / "notebooks").glob("*.ipynb"))
    if not found:
        raise Unreadable(f"There are no worked notebooks in {root / 'notebooks'}. Call this in the whole course.")
    return found
