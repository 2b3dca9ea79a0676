"""The release for students: the course without the worked notebooks, opened and run once from where it lies.

The references stay, since the checks compare with them: a student who looks for a solution there finds one. The
instructor's page says so, and what follows for grading. Hidden cases are in no file: they are drawn from a seed that
stays in the folder of the graded class.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from checker.editions.assign import edition
from checker.editions.chapter import TEMPLATE
from checker.editions.course import NEEDED, worked_notebooks
from checker.outputs.chapters import CHAPTERS, chapters
from checker.reading.files import write_beside

EXAMPLES = "notebooks/examples"  # of a task of one's own, of which the blank edition of own_task tells
TAKEN = (
    *NEEDED,
    EXAMPLES,
    CHAPTERS.as_posix(),
    "pyproject.toml",
    "requirements.txt",
    "constraints.txt",
    "Makefile",
    ".gitignore",
)
ALSO = ("LICENSE", "LICENSE-prose", "NOTICE", "CITATION.cff")
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.egg-info", ".DS_Store", TEMPLATE.name)
README = Path(__file__).with_name("release.md")
EDITIONS = Path("notebooks", "student")
MAKEFILE_ENDS = (
    "# What students get ends here"  # behind it are the commands that need tests, benchmarks, worked notebooks
)
EXPECTED = "Not filled in yet: "  # where an untouched blank notebook stops (`shared/blanks.py`)
PATIENCE = 900  # seconds for the trial


class ReleaseError(Exception):
    """Nothing can be released; the message says why."""


@dataclass(frozen=True)
class Released:
    """The folder, its notebooks in reading order, and how many files it holds."""

    folder: Path
    notebooks: tuple[str, ...]
    files: int


def release(root: Path, folder: Path) -> Released:
    """Write the students' edition of a course into a folder that is empty or not there yet.

    Raises:
        ReleaseError: the folder holds something.    MarkerError, Unreadable: see `checker.editions.assign.edition`.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ReleaseError(f"{folder} holds something already. Give a folder that is empty or not there yet.")
    if any((root / name).resolve() in folder.resolve().parents for name in TAKEN):
        raise ReleaseError(f"{folder} lies inside what is copied. Give a folder outside of the course.")
    worked = _in_reading_order(root)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*TAKEN, *ALSO):
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        elif source.is_file():
            shutil.copy2(source, folder / name)
    makefile = folder / "Makefile"
    if makefile.is_file():
        write_beside(makefile, makefile.read_text(encoding="utf-8").partition(MAKEFILE_ENDS)[0].rstrip() + "\n")
    # The blank editions are made again, so that none is released that somebody filled in.
    for notebook in worked:
        blank = edition(notebook, folder / EDITIONS)
        write_beside(blank.path, blank.text)
    rows = "\n".join(f"- `{notebook.stem}`" for notebook in worked)
    write_beside(folder / "README.md", README.read_text(encoding="utf-8").replace("NOTEBOOKS", rows))
    names = tuple(notebook.name for notebook in worked)
    return Released(folder, names, sum(len(files) for _, _, files in os.walk(folder)))


def _in_reading_order(root: Path) -> list[Path]:
    """The worked notebooks, as the course lists them; those that it does not list come last.

    Raises:
        Unreadable: there are none.
    """
    worked = worked_notebooks(root)
    listed = [root / chapter.notebook for chapter in chapters(root)]
    return [notebook for notebook in listed if notebook in worked] + [one for one in worked if one not in listed]


def tried(released: Released, python: str = sys.executable) -> str:
    """Run the first notebook from where it was released; "" when it stops at its first exercise, else what it said."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    notebook = EDITIONS / released.notebooks[0]
    with tempfile.TemporaryDirectory() as scratch:
        command = [python, "-m", "checker", "report", str(notebook), "-o", scratch]
        try:
            done = subprocess.run(
                command,
                cwd=released.folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{notebook} ran for more than {PATIENCE // 60} minutes."
    said = " ".join((done.stdout + done.stderr).split())
    for left in released.folder.rglob("__pycache__"):
        shutil.rmtree(left, ignore_errors=True)
    return "" if EXPECTED in said else f"{notebook} did not stop at its first exercise: {said[-500:]}"
