"""Notebooks made of texts, without a file, for tests of what is read in them."""

from pathlib import Path

from checker.reading.notebook import Cell, Notebook


def notebook(*cells: str | tuple[str, str]) -> Notebook:
    """A notebook of these cells: a text is a cell of code, (kind, text) a cell of another kind."""
    pairs = [("code", cell) if isinstance(cell, str) else cell for cell in cells]
    return Notebook(Path("folder/my_task.ipynb"), tuple(Cell(place, *pair) for place, pair in enumerate(pairs)))
