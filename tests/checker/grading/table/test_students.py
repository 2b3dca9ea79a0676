"""One student: points, those that wait, and a correction as people and spreadsheets write it."""

from pathlib import Path

import pytest

from checker.grading.table.students import Line, number
from checker.points.forms import Form


@pytest.mark.parametrize(
    ("written", "points"), [("", 0.0), ("2", 2.0), ("1,5", 1.5), ("'-1.5", -1.5), ("'-1,5", -1.5), ("+0.5", 0.5)]
)
def test_a_correction_is_a_number_however_a_spreadsheet_keeps_it(written, points):
    """Catches a class that cannot be graded since a cell with "-1.5" was saved as text, with a mark before it."""
    assert number(written) == points


def result(earned: float | None) -> dict:
    item = {"field": "Question 1", "section": "", "points": 2.0, "earned": earned, "verdict": ""}
    return {"items": [item], "earned": earned or 0.0}


def test_a_notebooks_points_are_those_of_checks_of_a_person_and_of_the_rubric():
    """Catches a platform's column that lacks what the rubric gives, while the total beside it has it."""
    form = Form("ann", "dots.ipynb", {"Question 1": 1.5, "Evaluation": 3.0}, "", 0.0, Path("form.json"))
    line = Line("ann", {"dots.ipynb": result(None), "ppo.ipynb": result(2.0)}, {"dots.ipynb": form})
    assert [line.points(name, "") for name in ("dots.ipynb", "ppo.ipynb", "")] == [4.5, 2.0, 6.5]


def test_who_has_one_notebook_that_waits_waits():
    """Catches a total that is taken for the last word while answers of another notebook are unread."""
    line = Line("ann", {"dots.ipynb": result(2.0), "ppo.ipynb": result(None)})
    assert line.waits and not Line("ann", {"dots.ipynb": result(2.0)}).waits
