"""The index of a class: what it says of each notebook, and of those who have none."""

import re

from checker.grading.table.overview import NEIGHBOURS, Row, index, row, with_neighbours


def item(earned, points=2.0, **changed):
    return {"field": "Question: A", "points": points, "earned": earned, "finding": False} | changed


def result(items, **changed):
    levels = [{"level": level} for level in ("warning", "question", "error")]
    return {"notebook": "dots.ipynb", "items": items, "findings": levels, "ungraded": ""} | changed


ITEMS = [item(1.5), item(None, field="Question: B"), item(None, 0, field="Question: C"), item(0.0, finding=True)]


def test_a_row_says_points_findings_and_what_is_to_be_judged():
    """Catches a question of the checker's counted as a finding, and an exercise without points that waits for a person."""
    made = row("ann", "pages/ann/dots.html", result(ITEMS), ITEMS, "Late.")
    assert (made.earned, made.possible, made.findings, made.remark) == ("1.5", "6", 3, "Late.")
    assert made.fields == ("Question: B",) and made.page == "pages/ann/dots.html"
    assert row("ann", "", result(ITEMS), ITEMS, "").remark == ""


def test_what_could_not_be_graded_has_no_points_and_nothing_to_be_judged():
    """Catches 0 points on the index for whoever nobody could grade."""
    items = [item(None)]
    made = row("ann", "", result(items, ungraded="a box failed"), items, "")
    assert (made.earned, made.fields, made.remark) == ("", (), "not graded")
    assert row("ann", "", result(items, ungraded="a box failed"), items, "Late.").remark == "Late."


def test_the_index_names_who_has_no_notebook():
    """Catches a student who handed in nothing, and whom nobody misses."""
    page = index([], [("eve", "No notebook was handed in.")], [])
    assert "<li>eve: No notebook was handed in.</li>" in page and "1 student without" in page
    assert "<title>The class</title>" in page
    assert "without" not in index([], [], []).partition("<main")[2].partition("</main>")[0]


def test_a_page_leads_to_both_neighbours_by_their_names():
    """Catches arrows that point to the same side, and a name that is taken for markup."""
    before, here, after = (
        Row(student, "dots.ipynb", f"pages/{student[0]}/dots.html", "1", "2", 0, (), "")
        for student in ("a", "b", "c<i>")
    )
    links = re.findall('<a rel="(.*?)" href="(.*?)">(.*?)</a>', with_neighbours(NEIGHBOURS, here, before, after))
    assert links == [("prev", "../a/dots.html", "‹ a"), ("next", "../c/dots.html", "c&lt;i&gt; ›")]
