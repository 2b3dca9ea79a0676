"""The gallery: a card for each notebook, in reading order, with what the README says that it reaches."""

import re
from dataclasses import replace
from pathlib import Path

from checker.pages.card import card
from checker.pages.templates import style, template
from checker.reading.layout import title_of
from checker.reading.notebook import read
from checker.site.pieces.thumbnails import thumbnail

README = "README.md"
# | 1 | [dots](notebooks/dots.ipynb) | what it teaches | measured on held-out data | before | after |
ROW = re.compile(
    r"^\| *\d+ *\| *\[[^]]+\]\(([^)]+)\) *\|[^|]*\| *([^|]+?) *\| *([^|]+?) *\| *([^|]+?) *\|$", re.MULTILINE
)


def gallery(project: Path, sources: list[Path]) -> str:
    """The notebooks in reading order."""
    notebooks = {source: read(project / source) for source in sources if source.suffix == ".ipynb"}
    titles = {source.stem: title_of(notebook) for source, notebook in notebooks.items()}
    cards = [card(source, notebook, titles) for source, notebook in notebooks.items()]
    small = [replace(one, picture=thumbnail(one.picture)) for one in cards]
    return template("gallery.html.j2").render(cards=small, measured=measured(project), css=style("gallery.css"))


def measured(project: Path) -> dict[str, tuple[str, str, str]]:
    """The table of the README: (what is measured, before, after) of each notebook, by the link of its card.

    {} for a project whose README has none.
    """
    try:
        text = (project / README).read_text(encoding="utf-8")
    except OSError:
        return {}
    return {Path(name).with_suffix(".html").as_posix(): tuple(told) for name, *told in ROW.findall(text)}
