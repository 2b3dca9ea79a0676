"""The saved notebooks as a reader sees them: how much, how wide, and a header that is not one huge heading."""

import json
from pathlib import Path

import pytest

from checker.reading.notebook import read
from shared.progress import LINE_WIDTH
from tests.claims.origins import printed

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted([*FOLDER.glob("*.ipynb"), *FOLDER.glob("examples/*.ipynb")])
EDITIONS = sorted(FOLDER.glob("student/*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_line_of_an_output_is_wider_than_a_page(path):
    """A table that got a column too many, a sentence that nobody wrapped."""
    lines = (line for cell in read(path).code_cells for line in printed(cell).splitlines())
    too_wide = [line for line in lines if len(line) > LINE_WIDTH]
    assert not too_wide, f"{path.name}: wider than {LINE_WIDTH} characters:\n" + "\n".join(too_wide)


@pytest.mark.parametrize("path", [*NOTEBOOKS, *EDITIONS], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_header_is_code_to_who_shows_it_as_markdown(path):
    """A line of text above `---` is a heading in Markdown: JupyterLab and VS Code draw the whole header in huge letters."""
    header = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
    first, *lines = "".join(header).splitlines()
    inside = lines[: lines.index("---")]
    assert first == "---"
    assert all(line.startswith("    ") for line in inside), f"{path.name}: indent the header's lines by four spaces"
