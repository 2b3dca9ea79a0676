"""The numbered equations of the page of formulas, and the notebooks that they belong to.

That page names below its equations the notebooks that derive, write or measure them. A notebook's page leads back, to
the same formula in the one notation of the course. The notebook itself holds no such link: in Jupyter, and in the blank
edition that lies in another folder, it would lead nowhere.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

FORMULAS = Path("docs") / "formulas.qmd"
PART = re.compile(
    r"^# (?P<heading>.+?)\s*$|\{#(?P<name>eq-[\w-]+)\}|\]\(\.\./notebooks/(?P<notebook>[\w-]+)\.ipynb\)", re.MULTILINE
)


@dataclass(frozen=True)
class Equation:
    """An equation: its place on the page, its number there, by either engine, and the heading above it."""

    name: str
    number: int
    heading: str


def by_notebook(project: Path) -> dict[str, list[Equation]]:
    """The equations of each notebook that the page of formulas names, by its name; {} without such a page."""
    page = project / FORMULAS
    return named(page.read_text(encoding="utf-8")) if page.is_file() else {}


def named(text: str) -> dict[str, list[Equation]]:
    """The equations of each notebook that a text names. Those that stand together share the text below them."""
    found: dict[str, list[Equation]] = defaultdict(list)
    above: list[Equation] = []
    heading = ""
    number = 0
    is_told = False  # whether a notebook was named since the last equation
    for part in PART.finditer(text):
        if part["heading"]:
            heading = part["heading"]
            above = []
        elif part["name"]:
            number += 1
            above = [*([] if is_told else above), Equation(part["name"], number, heading)]
            is_told = False
        else:
            is_told = True
            found[part["notebook"]] += [one for one in above if one not in found[part["notebook"]]]
    return dict(found)
