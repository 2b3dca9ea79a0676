"""The last run of a class, undone: the class as the run found it is kept beside, and comes back into its place.

    graded/before/        the class as the last run found it that came to its end
    graded/unfinished/    the same, of a run that did not come to its end

Both hold links to the class's own files, which no run writes into: each writes new ones. `undo` exchanges the class and
`before/`, so that nothing is lost and a second call undoes the first.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from checker.grading.table import scratch
from checker.grading.table.class_folder import IGNORE, MARK, RULES, SECRET, WORKED
from checker.grading.table.grades import TABLE
from checker.reading.files import write_beside
from checker.reading.notebook import Unreadable

BEFORE = "before"
UNFINISHED = "unfinished"
LEAVING, COMING = "leaving", "coming"  # while a class and `before/` are exchanged
READ = ".class.yml"  # the rules as the last run read them: those in class.yml may be for the next one
STAYS = {MARK, IGNORE, SECRET, WORKED, scratch.NAME, BEFORE, UNFINISHED, LEAVING, COMING}
WRITTEN_BY_PEOPLE = (TABLE, RULES)  # copied: a spreadsheet may write into the file that is there


def keep_aside(folder: Path) -> None:
    """Keep the class as it is before a run writes anything. Raises Unreadable where an undoing was stopped half way."""
    if (folder / LEAVING).exists() or (folder / COMING).exists():
        raise Unreadable(f"The last undoing was stopped half way. `checker undo {folder}` goes on with it.")
    kept = folder / UNFINISHED
    shutil.rmtree(kept, ignore_errors=True)

    def beside(place: str, names: list[str]) -> set[str]:
        return STAYS.intersection(names) if Path(place) == folder else set()

    shutil.copytree(folder, kept, ignore=beside, copy_function=_linked)
    if (kept / READ).is_file():
        write_beside(kept / RULES, (kept / READ).read_bytes())
    write_beside(folder / READ, (folder / RULES).read_bytes())


def come_to_its_end(folder: Path) -> None:
    """Say that a run is written down: from now on it is the one that can be undone."""
    shutil.rmtree(folder / BEFORE, ignore_errors=True)
    (folder / UNFINISHED).rename(folder / BEFORE)


def undo(folder: Path) -> None:
    """Exchange a class and what its last run found. One that was stopped half way goes on.

    Raises:
        Unreadable: there is no run that can be undone.
    """
    before, leaving, coming = (folder / name for name in (BEFORE, LEAVING, COMING))
    if not coming.exists():
        if not (folder / MARK).is_file() or not before.is_dir():
            raise Unreadable(f"{folder} holds no run that can be undone. Nothing was changed.")
        leaving.mkdir(exist_ok=True)
        for path in list(_of_the_class(folder)):
            path.rename(leaving / path.name)
        before.rename(coming)
    for path in list(coming.iterdir()):
        path.rename(folder / path.name)
    if leaving.exists():
        leaving.rename(before)
    coming.rmdir()


def _of_the_class(folder: Path) -> Iterator[Path]:
    return (path for path in folder.iterdir() if path.name not in STAYS)


def _linked(source: str, target: str) -> None:
    """Link a file, or copy it where that cannot be or where a person may write into it."""
    if Path(source).name not in WRITTEN_BY_PEOPLE:
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copy2(source, target)
