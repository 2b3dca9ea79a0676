"""Late days: how many there were, how many are free, what each further one takes off, and where that is shown."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from checker.grading.collect.roster import Roster, Student
from checker.grading.collect.uploads import _days_late
from checker.grading.lines import days_late
from checker.grading.table.lateness import Lateness, LateRule, late_rule, lateness_of
from checker.grading.table.rules import Rules
from checker.grading.work import ClassWork
from checker.reading.notebook import Unreadable
from tests.checker.grading.table.forty import Points, class_of, worked_notebook

DUE = datetime(2026, 11, 20, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "days"), [(-3600, 0), (0, 0), (1, 1), (86_400, 1), (86_401, 2), (6 * 86_400 + 5, 7)]
)
def test_a_begun_day_counts(seconds, days):
    """Catches a day that is free because it is not over, and one that is counted a second too early."""
    assert _days_late(DUE + timedelta(seconds=seconds), DUE) == days


def test_another_time_zone_is_the_same_moment():
    """Catches a whole day taken for an hour's difference between two clocks."""
    from datetime import timezone

    assert _days_late(DUE.astimezone(timezone(timedelta(hours=9))), DUE) == 0


@pytest.mark.parametrize(
    ("rule", "days", "free", "points", "taken"),
    [
        (LateRule(1, 2.0), 3, 1, 20.0, 4.0),
        (LateRule(1, 2.0), 1, 1, 20.0, 0.0),
        (LateRule(1, 10.0, percent=True), 3, 1, 17.0, 3.4),
        (LateRule(0, 2.0), 30, 0, 20.0, 20.0),
        (LateRule(0, 10.0, percent=True), 30, 0, 20.0, 20.0),
        (LateRule(0, 2.0), None, 0, 20.0, 0.0),
        (LateRule(0, 2.0), 2, 5, 20.0, 0.0),
        (LateRule(0, 2.0), 3, 0, 0.0, 0.0),
    ],
)
def test_further_days_take_points_off_and_never_more_than_there_are(rule, days, free, points, taken):
    """Catches a negative total, a free day that costs, and per cent of a per cent."""
    assert Lateness(rule, days, free).taken(points) == taken


@pytest.mark.parametrize(
    ("days", "free", "words"),
    [(None, 2, "0 days late, 0 of them free"), (1, 2, "1 day late, 1 of"), (3, 1, "3 days late, 1 of them free")],
)
def test_days_are_said_as_they_were(days, free, words):
    """Catches a day that nobody counted, and more days that were free than there were."""
    assert str(Lateness(LateRule(0, 2.0), days, free)).startswith(words)


@pytest.mark.parametrize(
    ("free", "off", "rule"),
    [
        (2, "10%", LateRule(2, 10.0, True)),
        (0, "1,5", LateRule(0, 1.5)),
        (0, "0.5", LateRule(0, 0.5)),
        (0, "100%", LateRule(0, 100.0, True)),
        (2, "0", LateRule(2, 0.0)),
        (0, "", None),
    ],
)
def test_the_rule_of_the_class_file(free, off, rule):
    """Catches ten points for ten per cent, and the comma of half of Europe."""
    assert late_rule(free, off) == rule


@pytest.mark.parametrize(
    ("free", "off"), [(2, ""), (0, "much"), (-1, "2"), (0, "-2"), (0, "200%"), (0, "101%"), (0, "inf"), (0, "nan")]
)
def test_a_rule_that_cannot_be_is_refused(free, off):
    """Catches free days without a price for the others, points that are added for being late, and more than all."""
    with pytest.raises(Unreadable, match="late off"):
        late_rule(free, off)


@pytest.fixture
def one(tmp_path):
    """A class of three: the first has two late days, the second five and an extension of as many."""
    made = class_of(3, tmp_path, worked_notebook(tmp_path / "notebooks"))
    students = (
        Student("student01", ("student01",), None, 2),
        Student("student02", ("student02",), 5, 5),
        Student("student03", ("student03",)),
    )
    made.this_class = replace(made.this_class, roster=Roster(students), rules=Rules(late=LateRule(1, 0.25)))
    return made


def test_late_days_stand_in_the_table_and_in_the_feedback(one):
    """Catches points that are gone and of which nobody says why."""
    one.write(grader=Points(2.0))
    rows = one.rows()
    assert [(row["days late"], row["late"], row["total"]) for row in rows] == [
        ("2", "-0.25", "1.75"),
        ("5", "0", "2"),
        ("0", "0", "2"),
    ]
    page = (one.folder.path / "feedback/student01.html").read_text()
    assert "1.75 points in all: 2 by checks, -0.25 for being 2 days late, 1 of them free." in page


def test_of_several_notebooks_the_latest_says_how_late():
    """Catches the days of the notebook that was looked at last, though another one came later."""
    in_time = {"ann": (0, 3, 1), "bob": (2, None, 0), "eve": (None,)}
    jobs = [(SimpleNamespace(student=name, days_late=n), None) for name, days in in_time.items() for n in days]
    assert days_late(ClassWork(jobs, ungraded=[], missing=[])) == {"ann": 3, "bob": 2}


def test_without_a_rule_nothing_is_taken_and_the_table_is_as_it_was(one):
    """Catches columns that everybody's programs have to learn about, for a rule that nobody made."""
    one.this_class = replace(one.this_class, rules=Rules())
    one.write(grader=Points(2.0))
    assert "late" not in one.rows()[0] and one.rows()[0]["total"] == "2"


def test_late_by_nobody_knows_how_much_is_asked_for(one):
    """Catches a late student who pays nothing since Canvas says LATE and not by how much."""
    place = one.submissions / "student03" / "dots.ipynb"
    place.rename(one.submissions / "student03_LATE_1_2_dots.ipynb")
    place.parent.rmdir()
    said = one.write(grader=Points(2.0))
    assert any(sentence.startswith("student03: late, and the platform does not say") for sentence in said)
    assert one.rows()[2]["days late"] == "" and one.rows()[2]["remarks"] == "Late."


@pytest.mark.parametrize(("written", "days"), [(None, 3), (0, 0), (5, 5)])
def test_days_in_the_roster_go_before_the_platforms(written, days):
    """Catches a student who is forgiven, with 0 days in the roster, and pays for what the platform says."""
    roster = Roster((Student("ann", ("ann",), days_late=written),))
    assert lateness_of("ann", 3, True, LateRule(0, 2.0), roster).days == days
