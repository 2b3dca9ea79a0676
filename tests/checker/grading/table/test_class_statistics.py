"""The statistics of a class: counts that are right, mistakes by their names, and nobody's name."""

import re

import pytest

from checker.grading.judge import one_notebook
from checker.grading.judge.oracle.partial_credit import NO_NAME, NOT_FILLED_IN
from checker.grading.table.class_statistics import MOST_SHOWN, page, statistics_of
from checker.grading.table.students import Line
from checker.points.forms import Form
from tests.checker.grading.table.forty import class_of, items_of, worked_notebook

MISSING = "The -1 is missing: with equal log-probabilities your penalty is 1, and it should be 0."
WRONG = [MISSING]
BOTH = [MISSING, "You divide by the whole group."]


def item(earned, mistakes=(), name="kl", points=2.0, **changed):
    about = {"key": name, "name": name, "field": f"Question: {name}", "section": "", "written": False}
    return about | {"points": points, "earned": earned, "verdict": "Ann Lee copied.", "mistakes": mistakes} | changed


def line(student, *items, findings=(), ungraded=""):
    result = {"notebook": "dots.ipynb", "items": list(items), "findings": list(findings), "ungraded": ungraded}
    return Line(student, {"dots.ipynb": result | {"earned": sum(one["earned"] or 0 for one in items)}})


def test_counts_and_means_are_those_of_the_class():
    """Catches a part counted as all, a student who waits counted as none, and a mean over who was not judged."""
    lines = [
        line("a", item(2.0)),
        line("b", item(0.5, WRONG)),
        line("c", item(0.0, BOTH)),
        line("d", item(None)),
        line("e", item(0.0, WRONG), ungraded="a box failed"),
    ]
    (notebook,) = statistics_of(lines)
    (kl,) = notebook.exercises
    assert (kl.full, kl.part, kl.none, kl.waiting, notebook.students) == (1, 1, 1, 1, 4)
    assert kl.mean == pytest.approx((1 + 0.25 + 0) / 3)
    assert kl.mistakes == ((MISSING, 2), ("You divide by the whole group.", 1))
    assert notebook.totals == (1.0, 0.25, 0.0) and notebook.bins == [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]


def test_points_by_hand_count_and_a_comment_is_no_mistake():
    """Catches a person's comment on one answer shown to the whole class as a frequent mistake."""
    one = line("a", item(None, name="Success"))
    one.forms["dots.ipynb"] = Form(
        "a", "dots.ipynb", {"Question: Success": 1.0}, "", 1.0, None, {"Question: Success": "Dear Ann, no."}
    )
    (notebook,) = statistics_of([one])
    assert notebook.exercises[0].part == 1 and notebook.exercises[0].mistakes == ()


def test_what_to_talk_about_is_what_costs_points_and_what_many_share():
    """Catches a lecture about one student's slip, and one that leaves out what half of the class did not earn."""
    lines = [line(str(number), item(0.0, WRONG), item(2.0, name="easy")) for number in range(3)]
    lines += [line("x", item(2.0), item(1.0, ["You forgot the mask."], name="easy"))]
    for one in lines[:2]:
        one.results["dots.ipynb"]["items"].append(item(1.5, [NOT_FILLED_IN], name="last"))
    (notebook,) = statistics_of(lines)
    assert notebook.talk == [
        ("kl", "25 % of its points were earned; 3 of 4 have none."),
        ("kl", f"3 of 4: {MISSING}"),
    ]


def test_what_costs_most_points_comes_first():
    """Catches a lecture that begins with what is worth much and was done well enough."""
    lines = [
        line(str(number), item(1.1, name="half", points=2.0), item(0.0, name="none", points=1.2)) for number in range(3)
    ]
    (notebook,) = statistics_of(lines)
    assert [(name, text[:4]) for name, text in notebook.talk][:2] == [("none", "0 % "), ("half", "55 %")]


def test_a_long_list_ends_with_what_is_rarest():
    """Catches a page to be shown in a lecture that is as long as the class makes slips, and one that drops the worst."""
    common, *rare = (
        {"code": f"P{n:03}", "level": "warning", "found": f"number {n}", "advice": "", "place": ""} for n in range(50)
    )
    lines = [line("a", *(item(0.0, [f"Slip {n}."], name=str(n)) for n in range(50)), findings=[*rare, common])]
    lines.append(line("b", item(0.0, ["Slip 49."], name="49"), findings=[common]))
    (notebook,) = statistics_of(lines)
    assert len(notebook.findings) == len(notebook.mistakes) == MOST_SHOWN < 49
    assert "(P000)" in notebook.findings[0][0] and notebook.mistakes[0] == ("49", "Slip 49.", 2)


def test_findings_are_counted_once_a_student():
    """Catches a finding in four cells of one notebook taken for four students, and one that quotes a student to all."""
    found = {"code": "X001", "level": "warning", "found": "Ann is read nowhere", "advice": "", "place": ""}
    asked = found | {"level": "question", "found": "really?"}
    (notebook,) = statistics_of([line("a", item(2.0), findings=[found, found, asked]), line("b", item(2.0))])
    ((text, count),) = notebook.findings
    assert text.endswith("(X001)") and len(text) > len("(X001)") and "Ann" not in text and count == 1


def test_the_page_has_pictures_and_no_name(tmp_path):
    """Catches a page with names on it that is shown in a lecture, and a bar that is longer than the class."""
    one = class_of(7, tmp_path, worked_notebook(tmp_path / "notebooks"))
    one.write(grader=all_wrong)
    text = (one.folder.path / "statistics.html").read_text()
    assert "student0" not in text and "&lt;b&gt;bold" in text and "<b>bold" not in text
    bars = [sum(map(int, re.findall(r'width="(\d+)" height="10"', bar))) for bar in text.split('<svg class="bar"')[1:]]
    assert bars == [7, 7, 7]
    assert "No notebook is graded yet." in page([])


def test_the_page_has_a_title_and_a_style_and_tells_questions_from_code():
    """Catches bars that are all black, a question set like a function's name, and a verdict that quotes a student."""
    text = page([line("a", item(0.0, [f"another value, {NO_NAME}"]), item(1.0, name="Success", written=True))])
    assert "<title>The class in numbers</title>" in text and ".bar .full {" in text
    assert "<td>Success</td>" in text and "<td><code>kl</code></td>" in text
    assert "<td>another value" in text and "Ann" not in text


def all_wrong(jobs):
    for job in jobs:
        items = [item | {"mistakes": ["<b>bold mistake</b>"]} for item in items_of(job, 0.0, "")]
        yield job, one_notebook._result(job, items)
