"""Sums of points: what is earned, what waits for a person, and what a form may give."""

from pathlib import Path

import pytest

from checker.points.forms import Form
from checker.points.totals import Sum, by_rubric, counts, refused, sections, shown, summed, with_given


def item(field: str, points: float, earned: float | None, section: str = "Cell 4") -> dict:
    return {"field": field, "points": points, "earned": earned, "section": section, "verdict": f"about {field}"}


ITEMS = [item("checked", 3, 2.5), item("failed", 2, 0.0, "Cell 5"), item("question", 4, None), item("other", 1.5, None)]


def form(scores: dict, **comments: str) -> Form:
    return Form("ann", "dots.ipynb", scores, "", 0.0, Path(), comments)


def test_a_sum_tells_earned_possible_and_waiting_apart():
    """Catches 0 points that wait, points that wait and are not possible, and a sum of an iterator that is read once."""
    assert summed(iter(ITEMS)) == Sum(earned=2.5, possible=10.5, waiting=5.5)
    assert str(summed(ITEMS)) == "2.5 of 10.5 points, 5.5 of them still to be given"
    assert str(summed(ITEMS[:2])) == "2.5 of 5 points" and Sum() == summed([]) == Sum(0.0, 0.0, 0.0)


def test_sections_keep_the_notebooks_order():
    assert [(name, [one["field"] for one in found]) for name, found in sections(ITEMS).items()] == [
        ("Cell 4", ["checked", "question", "other"]),
        ("Cell 5", ["failed"]),
    ]


@pytest.mark.parametrize(("score", "right"), [(None, False), (-0.5, False), (0, True), (4, True), (4.5, False)])
def test_a_score_counts_from_nothing_to_what_the_exercise_is_worth(score, right):
    """Catches 0 points that do not count, and the most that does not."""
    assert counts(score, 4) is right


def test_a_form_gives_points_where_no_check_does():
    """Catches a form that overrules a check, a comment that is lost with a score that is missing or impossible."""
    given = with_given(ITEMS, form({"checked": 0, "question": 4, "other": 2}, other="Too short.", checked="No."))
    assert given[:2] == ITEMS[:2]
    assert given[2] == ITEMS[2] | {"earned": 4, "by_hand": True, "verdict": "given by the instructor"}
    assert given[3] == ITEMS[3] | {"verdict": "Too short."}
    (said,) = with_given(ITEMS[2:3], form({"question": 0}, question="Read it again."))
    assert (said["earned"], said["by_hand"], said["verdict"]) == (0, True, "Read it again.")
    assert with_given(ITEMS[2:3], form({})) == ITEMS[2:3] == with_given(ITEMS[2:3], None)


def test_impossible_points_are_named():
    """Catches an instructor's slip of the finger that is counted or passed over, and one about a checked exercise."""
    assert refused(ITEMS, form({"checked": 99, "question": 4.25, "other": -1})) == [
        "question is worth 4 and has 4.25 points",
        "other is worth 1.5 and has -1 points",
    ]
    assert refused(ITEMS, form({"question": 4, "other": None})) == []


def test_what_is_no_exercises_is_the_rubrics():
    """Catches the points of an answer counted once more as a criterion, and those of a criterion that nobody knows."""
    scores = {"question": 3, "Evaluation": 4, "Training pipeline": None, "Task and rewards": 6, "bonus": 1000}
    assert by_rubric(ITEMS, form(scores)) == {"Evaluation": 4}
    assert refused(ITEMS, form(scores)) == [
        "Task and rewards is given 1 to 5 and has 6 points",
        "'bonus' is no field of a form, and has 1000 points",
    ]


@pytest.mark.parametrize(
    ("number", "text"), [(3, "3"), (2.5, "2.5"), (10.0, "10"), (0, "0"), (1 / 3, "0.33"), (100, "100")]
)
def test_points_are_shown_as_people_write_them(number, text):
    """Catches 10 points shown as 1."""
    assert shown(number) == text
