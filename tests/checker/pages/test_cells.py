"""The words about a code cell: its title, its options, its pictures' texts."""

import pytest

from checker.pages import cells
from checker.reading.notebook import Cell
from checker.reading.options import reference


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("# Cell 4: Reward function", "Reward function"),
        ("# ---- Cell 4: X ----", "X"),
        ("#%% Extra X", "Extra X"),
        ("# Cell 4", ""),
        ("x = 1  # one", ""),
    ],
)
def test_the_title_of_a_cell_is_what_its_comment_says(source, said):
    """Catches rules and numbers in a title, a letter that goes with them, and code that is taken for one."""
    assert cells.words(Cell(4, "code", source)) == said


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("fig-reward", "fig-reward"),
        ("tbl-reward", "tbl-reward"),
        ("fig-", ""),
        ('fig-a" onload="b', ""),
        ("fig-" + "a" * 61, ""),
    ],
)
def test_a_name_of_a_figure_or_table_is_short_and_plain(label, name):
    """Catches a stranger's words in an attribute of the page."""
    assert reference(Cell(4, "code", f"#| label: {label}\nplot()")) == name


def test_a_cell_without_a_picture_name_or_a_second_caption_has_none():
    cell = Cell(4, "code", "#| fig-cap: One\nplot()")
    assert reference(cell) == "" and cells.caption(cell, 1) == ""
    assert cells.alternative(cell, 0) == "One" and cells.alternative(cell, 1) == "Figure: output of a cell"


def test_a_caption_without_end_is_cut():
    """Catches a page that is one caption."""
    assert len(cells.caption(Cell(4, "code", f"#| fig-cap: {'x' * 9000}\nplot()"), 0)) < 600
