"""A new chapter: a notebook in the course's form that runs and learns, to be written over, and its places in the course.

The notebook is `chapter.ipynb` with another title. Its record is the last entry of `notebooks/chapters.yml`, from which
the lists of chapters are made again (`lists.py`); files of `tests/claims/` say where the numbers of its analysis come
from and what its causes were held against.
"""

import re
from itertools import chain
from keyword import iskeyword
from pathlib import Path

from checker.editions.course import worked_notebooks
from checker.editions.lists import lists
from checker.outputs.chapters import CHAPTERS, chapters, chapters_in
from checker.reading.files import write_beside

TEMPLATE = Path(__file__).with_name("chapter.ipynb")
TITLE = "TITLE"  # stands in the template
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
RECORD = """
NAME:
  teaches: what it teaches, in a line
  measured: right first words, sampled
  before: "?"
  after: "?"
  cuts:
    - ["STEPS = 30", "STEPS = 2"]
    - ['make_rows("eval", 100, seed=0)', 'make_rows("eval", 16, seed=0)']
"""
ORIGINS = """# Where the numbers of Cell 8 come from: the words around each, and the line that prints or sets it.
- says: "after {} steps than"
  sets: ["STEPS = {}"]
"""
CAUSES = """# Sentences of Cell 8 that name a cause, each with its run and the control that could have refuted it: two at least.
causes: []
"""


class ChapterError(Exception):
    """No chapter was made; the message says why and what to do."""


def new_chapter(root: Path, name: str) -> list[Path]:
    """Write a new chapter of the course in `root` and return the files that were made or changed, the notebook first.

    Args:
        name: of the file, without its ending: lower-case words with `_` between them.

    Raises:
        ChapterError: the name cannot be one or is taken.
        Unreadable: the course has no worked notebooks, or a file has no place for its list of chapters.
    """
    if not NAME.fullmatch(name) or iskeyword(name):
        raise ChapterError(
            f"{name!r} cannot name a chapter. Take lower-case words with _ between them, as in word_order."
        )
    worked_notebooks(root)
    claims = root / "tests" / "claims"
    made = {
        root / "notebooks" / f"{name}.ipynb": _titled(name),
        claims / f"{name}.yml": ORIGINS,
        claims / "causes" / f"{name}.yml": CAUSES,
    }
    for file in made:
        if file.exists():
            raise ChapterError(f"{file} is there already. Take another name. Nothing was written.")
    if name in [chapter.name for chapter in chapters(root)]:
        raise ChapterError(f"{CHAPTERS} has an entry {name} already. Take another name. Nothing was written.")
    records = (root / CHAPTERS).read_text(encoding="utf-8") + RECORD.replace("NAME", name)
    changed = {root / CHAPTERS: records} | lists(root, chapters_in(records))
    for file, text in chain(made.items(), changed.items()):
        write_beside(file, text)
    return [*made, *changed]


def _titled(name: str) -> str:
    """The template with the chapter's name as its title."""
    return TEMPLATE.read_text(encoding="utf-8").replace(TITLE, name.replace("_", " ").capitalize())
