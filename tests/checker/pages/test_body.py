"""The body of a page: what becomes of a cell's text, and what a page says of that which it does not show."""

from pathlib import Path

import pytest

from checker.pages import body
from checker.pages.body import Outline, attached, beside, cut, rest, text
from checker.pages.sanitise import no_picture
from checker.reading.notebook import Cell, Notebook


def shown(source: str, number: int = 3, title: str = "A title") -> str:
    """A cell of text on the page of a notebook with this title."""
    cell = Cell(number, "markdown", source)
    notebook = Notebook(Path("x.ipynb"), (Cell(0, "markdown", f"---\ntitle: {title}\n---"), cell))
    return text(cell, Outline(notebook), no_picture)


@pytest.mark.parametrize(
    ("there", "said"),
    [(3, None), (4, "1 further cell is not shown: too long."), (2003, "2,000 further cells are not shown: too long.")],
)
def test_the_cells_that_are_left_out_are_counted(there, said):
    """Catches "1 further cells are", and a sentence on a page that shows everything."""
    notebook = Notebook(Path("x.ipynb"), tuple(Cell(number, "markdown", "x") for number in range(there)))
    assert rest(notebook, 3, "too long") == (f'<p class="rest">{said}</p>' if said else "")


def test_the_settings_are_folded_and_in_the_colours_of_yaml():
    made = shown("---\ntitle: Dots\n---", number=0)
    assert made.startswith('<details class="settings"><summary><h2') and '<span class="nt">title</span>' in made


@pytest.mark.parametrize(
    "source",
    [
        "# Cell 3: Data\nFirst.\n\nLast of X",
        "Cell 3: Data\n======\nFirst.\n\nLast of X",
        "Cell 3: Data\n---\nFirst.\n\nLast of X",
        "# Cell 3: Data\n\n**A title**\n\nFirst.\n\nLast of X",
    ],
)
def test_below_the_label_and_the_title_the_whole_text_stands(source):
    """Catches a line under the label that is shown as a rule, a first paragraph that goes with it, and a letter lost."""
    made = shown(source)
    below = '<section class="text"><p>First.</p>\n<p>Last of X</p>\n</section>'
    assert made == f'<h2 id="section-3">Cell 3: Data</h2>{below}'


def test_a_fold_of_what_should_be_printed_has_the_words_above_it_as_its_title():
    made = shown("What it should print for *X*:\n\n```text\n0.5\n```")
    assert made.startswith('<details class="expected"><summary>What it should print for X</summary>')
    assert "0.5" in made


@pytest.mark.parametrize(
    ("source", "count", "said"),
    [
        ("x = 1", 4, "In [4], 1 line"),
        ("x = 1\ny = 2", None, "2 lines"),
        ("#| label: a\nx\ny\nz", 12, "In [12], 3 lines"),
    ],
)
def test_a_fold_says_when_its_code_ran_and_how_long_it_is(source, count, said):
    """Catches "1 lines", options that count, and a cell that never ran with the number of a run."""
    assert beside(Cell(3, "code", source, count)) == said


def test_a_text_that_is_too_long_is_cut_and_says_how_much_is_left(monkeypatch):
    monkeypatch.setattr(body, "LONGEST", 4)
    assert (cut("four"), cut("fourteen")) == ("four", "four\n... (4 more characters)")


@pytest.mark.parametrize("address", ["a.png", "100%.png", "100%25.png", "a%20b.png"])
def test_an_attached_picture_is_found_as_jupyter_writes_its_address(address):
    """Catches a name with a blank or a percent sign, which Jupyter writes as it is or as in a web address."""
    names = {"a.png": "data:A", "100%.png": "data:A", "a b.png": "data:A"}
    assert attached(Cell(3, "markdown", "", attachments=names))(f"attachment:{address}") == "data:A"
    assert attached(Cell(3, "markdown", ""))(f"attachment:{address}") is None


def test_a_section_that_has_a_name_is_a_place():
    """Catches a name that stays in a heading, and a reference that leads nowhere."""
    made = shown("# Cell 4: Reward {#sec-reward}\n\nBy @sec-reward.")
    assert '<a id="sec-reward"></a><h2 id="section-4">Cell 4: Reward</h2>' in made
    assert '<a href="#sec-reward" rel="noopener noreferrer">Cell 4: Reward</a>' in made
