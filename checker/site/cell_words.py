"""The words about code cells for Quarto's pages: what the built-in page says of a cell, as a table that a filter reads.

`checker/pages/cells.py` and `checker/reading/layout.py` read a cell: its heading, the title of its fold, what its picture
shows. `site/sections.lua` looks up what they say. A cell is known by its first two lines, on which all of that depends:

    # Cell 4: Reward function        heading   Cell 4: Reward function
    # one point for each dot         fold      Code: one point for each dot      code   show, for an exercise
    def reward(...):                 picture   Figure: Reward function
"""

import json
from pathlib import Path

from checker.pages.cells import code_of, fold, is_exercise, untitled_picture
from checker.reading.files import write_beside
from checker.reading.layout import heading_of, label_of
from checker.reading.notebook import Notebook, read

FOR_QUARTO = Path("build") / "cells"  # read by site/sections.lua


def first_lines(source: str) -> str:
    """The first two lines that are not blank, as the filter reads them."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return "\n".join(lines[:2])


def words_of_cells(notebook: Notebook) -> dict[str, dict[str, str]]:
    """The words about each code cell by its first lines; no heading for one that goes on with a section."""
    table = {}
    for cell in notebook.code_cells:
        entry = {"fold": fold(cell), "picture": untitled_picture(cell)}
        if is_exercise(cell):
            entry["code"] = "show"
        if label_of(cell) is not None:
            entry |= {"heading": heading_of(cell), "place": f"section-{label_of(cell)}"}
        table[first_lines(code_of(cell))] = entry
    return table


def as_text(table: dict) -> str:
    return json.dumps(table, ensure_ascii=False) + "\n"


def write_for_quarto(project: Path, sources: list[Path], folder: Path | None = None) -> None:
    """Write the table of every notebook among the site's pages into `folder`, by default the project's own."""
    for source in sources:
        if source.suffix == ".ipynb":
            table = words_of_cells(read(project / source))
            write_beside((folder or project) / FOR_QUARTO / f"{source.stem}.json", as_text(table))
