"""The page that a student gets: under whose name, what is said where there is no number, and how it looks."""

import pytest

from checker.grading.table.feedback import feedback
from checker.grading.table.students import Line

RESULT = {"notebook": "dots.ipynb", "items": [], "earned": 2.0, "stopped": "", "ungraded": "", "findings": []}


def total_on(page):
    """The one sentence on the page in bold type."""
    return page.partition("<strong>")[2].partition("</strong>")[0]


def test_the_page_goes_by_the_name_that_is_shown_and_has_a_style():
    """Catches the name of a student on a page that was to go without, and a bare page."""
    page = feedback(Line("ann", {"dots.ipynb": RESULT}), "student-7f")
    assert page.count("Feedback for student-7f") == 2 and "ann" not in page.partition("<main>")[2]
    assert "body {" in page.partition("<style>")[2].partition("</style>")[0]


@pytest.mark.parametrize(
    ("changed", "correction", "begins", "because"),
    [
        ({}, "", "2 points in all", "by checks"),
        ({"results": {"dots.ipynb": RESULT | {"ungraded": "a box failed"}}}, "", "No total yet", "no fault of yours"),
        ({"unread": True}, "", "No total yet", "not all that you handed in"),
        ({"unread": True}, "1", "3 points in all", "1 by correction"),
        ({"results": {}, "remarks": ["No notebook was handed in."]}, "", "", ""),
    ],
)
def test_a_total_is_said_where_it_is_known_and_else_why_it_is_not(changed, correction, begins, because):
    """Catches "0 points in all" for whoever handed in nothing, or whose notebook nobody could grade."""
    line = Line("ann", **{"results": {"dots.ipynb": RESULT}} | changed)
    page = feedback(line, "ann", correction)
    assert total_on(page).startswith(begins) and because in total_on(page)
    assert bool(total_on(page)) == bool(begins) and all(f"<p>{remark}</p>" in page for remark in line.remarks)
