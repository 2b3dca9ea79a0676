"""What the saved notebooks show: a line of text that a page cuts, or makes its reader scroll for, is found."""

import json
from pathlib import Path

import pytest

from shared.telling import LINE_WIDTH
from tests.claims.origins import text_of

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted([*FOLDER.glob("*.ipynb"), *FOLDER.glob("examples/*.ipynb")])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_line_of_an_output_is_wider_than_a_page(path):
    """A table that got a column too many, a sentence that nobody wrapped."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    too_wide = [line for output in outputs for line in text_of(output).splitlines() if len(line) > LINE_WIDTH]
    assert not too_wide, f"{path.name}: wider than {LINE_WIDTH} characters:\n" + "\n".join(too_wide)
