"""A new chapter: a notebook in the course's form that runs and learns, to be written over, and its places in the course.

The notebook is `chapter.ipynb` with another title. Its places are the two lists of `_quarto.yml`, and the files of
`tests/claims/` that say where the numbers of its analysis come from and what its causes were held against.
"""

import re
from itertools import chain
from keyword import iskeyword
from pathlib import Path

from checker.editions.course import worked_notebooks
from checker.reading.files import write_beside
from checker.reading.website import SETTINGS

TEMPLATE = Path(__file__).with_name("chapter.ipynb")
TITLE = "TITLE"  # stands in the template
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
LISTED = re.compile(r"( *- )(?:\{text: .*, href: )?notebooks/[\w/]+\.ipynb\}?")  # with a short title, perhaps
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
        ChapterError: the name cannot be one or is taken, or `_quarto.yml` does not list notebooks in two places.
        Unreadable: the course has no worked notebooks.
    """
    if not NAME.fullmatch(name) or iskeyword(name):
        raise ChapterError(
            f"{name!r} cannot name a chapter. Take lower-case words with _ between them, as in word_order."
        )
    worked_notebooks(root)
    page = f"notebooks/{name}.ipynb"
    claims = root / "tests" / "claims"
    files = {
        root / page: TEMPLATE.read_text(encoding="utf-8").replace(TITLE, name.replace("_", " ").capitalize()),
        claims / f"{name}.yml": ORIGINS,
        claims / "causes" / f"{name}.yml": CAUSES,
    }
    for file in files:
        if file.exists():
            raise ChapterError(f"{file} is there already. Take another name. Nothing was written.")
    settings = root / SETTINGS
    listed = with_page(settings.read_text(encoding="utf-8"), page)
    for file, text in chain(files.items(), [(settings, listed)]):
        write_beside(file, text)
    return [*files, settings]


def with_page(settings: str, page: str) -> str:
    """The text of `_quarto.yml` with a notebook below the last of each list of notebooks: what is rendered, the sidebar.

    Raises:
        ChapterError: there are not two such lists.
    """
    lines = settings.split("\n")
    matches = [LISTED.fullmatch(line) for line in lines] + [None]
    last = [place for place, match in enumerate(matches[:-1]) if match and not matches[place + 1]]
    if len(last) != 2:
        raise ChapterError(
            f"{SETTINGS} lists notebooks in {len(last)} places, and in 2 were expected: under render and in the sidebar."
            " Nothing was written."
        )
    for place in reversed(last):
        lines.insert(place + 1, f"{matches[place].group(1)}{page}")
    return "\n".join(lines)
