"""The papers of a class: pages with their links and remarks, the tables, the platforms' gradebooks."""

import csv
import json
import re
import shutil
import tempfile
import zipfile
from dataclasses import replace
from datetime import datetime

import pytest

from checker.grading.collect.roster import Roster, Student
from checker.grading.results import graded
from checker.grading.table.gradebooks import read_gradebooks
from checker.grading.table.lateness import LateRule
from checker.grading.table.rules import Rules
from checker.grading.work import collected
from checker.grading.writing import write_class, write_similar
from checker.points.forms import Form
from tests.checker.grading.table.forty import Points, class_of, hand_in, worked_notebook

SUCCESS = "Question: Success"
QUESTION = "questions/dots/Question_*Success*.html"


@pytest.fixture
def one(tmp_path):
    """A class of two who handed in, and a third who did not."""
    made = class_of(2, tmp_path, worked_notebook(tmp_path / "notebooks"), answers=("It rose.", "It fell."))
    people = tuple(Student(f"student0{number}", (f"student0{number}", f"{number}@example.org")) for number in (1, 2, 3))
    made.this_class = replace(made.this_class, roster=Roster(people))
    return made


def pages(one, pattern):
    return {path.relative_to(one.folder.path).as_posix(): path.read_text() for path in one.folder.path.glob(pattern)}


def remarks(one):
    """The remarks of the index, by student."""
    text = (one.folder.path / "pages/index.html").read_text()
    rows = re.findall(r'<tr data-student="(.*?)".*?</tr>', text, re.DOTALL)
    said = re.findall(r'<td data-value="([^"]*)">[^<]*</td>\s*</tr>', text)
    return dict(zip(rows, said, strict=True))


def test_the_index_links_each_page_and_says_who_has_none(one):
    """Catches a student who is in no list, a link to a page that is not there, and a remark that nobody reads."""
    place = one.submissions / "student02" / "dots.ipynb"
    place.rename(one.submissions / "student02_LATE_1_2_dots.ipynb")
    place.parent.rmdir()
    one.write(grader=Points())
    index = (one.folder.path / "pages/index.html").read_text()
    assert remarks(one) == {"student01": "", "student02": "Late."}
    links = re.findall(r'<a href="\.\./(pages/[^"]*)">(.*?)</a>', index)
    assert [name for _, name in links] == ["student01", "student02"]
    for address, name in links:
        page = (one.folder.path / address).read_text()
        assert f"results of {name}" in page and f"<strong>{name}</strong>" in page
    assert "<li>student03: No notebook was handed in.</li>" in index


def test_a_notebook_without_a_page_has_a_line_and_no_link(one):
    """Catches a link into nothing where grading had failed before there was a page."""
    one.write(grader=Points(page=""))
    index = (one.folder.path / "pages/index.html").read_text()
    assert remarks(one).keys() == {"student01", "student02"} and "dots.html" not in index
    assert "in the notebook</a>" not in "".join(pages(one, QUESTION).values())


def test_a_question_shows_each_students_own_answer_and_leads_to_the_notebook(one):
    """Catches an answer beside another one's name, and a link that leads to somebody else's page."""
    one.write(grader=Points())
    (page,) = pages(one, QUESTION).values()
    answers = re.findall(
        r'<article class="answer".*?data-student="(.*?)".*?<h2>(.*?)</h2>.*?'
        r'<a href="../../(.*?)#.*?<div class="written">\s*<p>(.*?)</p>',
        page,
        re.DOTALL,
    )
    assert [(student, name, answer) for student, name, _, answer in answers] == [
        ("student01", "student01", "It rose."),
        ("student02", "student02", "It fell."),
    ]
    assert all(f"results of {name}" in (one.folder.path / place).read_text() for name, _, place, _ in answers)


def test_what_was_not_graded_is_neither_judged_nor_left_out_of_the_lists(one):
    """Catches a student whose box failed and of whom nobody is told, or who is judged on a page."""
    one.write(grader=Points(ungraded={"student02": "a box failed"}))
    assert remarks(one) == {"student01": "", "student02": "not graded"}
    (page,) = pages(one, QUESTION).values()
    assert "student01" in page and "student02" not in page
    (row,) = one.rows("not-graded.csv")
    assert row["reason"] == "a box failed" and row["file"].endswith("student02/dots.ipynb")


def test_names_are_listed_beside_those_of_the_pages(one):
    """Catches pages without names from which no instructor finds back to a student."""
    one.this_class = replace(one.this_class, rules=Rules(anonymous=True))
    grader = Points()
    one.write(grader=grader)
    names = {row["shown as"]: row["student"] for row in one.rows("names.csv")}
    assert names == {one.this_class.pseudonym_of(f"student0{number}"): f"student0{number}" for number in (1, 2, 3)}
    assert {names[job.student] for job in grader.jobs} == {"student01", "student02"}
    (page,) = pages(one, QUESTION).values()
    shown = re.findall(r'data-student="(.*?)".*?<a href="../../(.*?)#', page, re.DOTALL)
    assert {name for name, _ in shown} <= names.keys() and len(shown) == 2
    assert all(f"results of {name}" in (one.folder.path / place).read_text() for name, place in shown)
    feedback = pages(one, "feedback/*.html")
    assert {name: name in feedback[f"feedback/{name}.html"] for name in names} == dict.fromkeys(names, True)


def test_a_remark_stands_once_however_many_files_it_is_about(one):
    """Catches a line of the table in which one sentence stands for each of several files."""
    for place in ("old", "older"):
        (one.submissions / "student01" / place).mkdir()
        (one.submissions / "student01" / place / "dots.ipynb").write_text(json.dumps({"of": place}))
    one.write(grader=Points())
    first, *_ = one.rows()
    assert first["remarks"].count("handed in twice") == 1 and first["total"] == ""
    assert len(one.rows("not-graded.csv")) == 3


def test_the_earlier_of_two_names_is_listed_with_what_is_graded(one):
    """Catches a file that was not graded, and whose student cannot tell which other one was."""
    text = (one.submissions / "student01" / "dots.ipynb").read_text()
    for name, number, changed in (
        ("dots.ipynb", 7, '"metadata": {"a": 1}'),
        ("dots__1_.ipynb", 8, '"metadata": {"a": 2}'),
    ):
        place = one.submissions / f"student03_1_{number}_{name}"
        place.write_text(text.replace('"metadata": {}', changed, 1))
    one.write(grader=Points(points={"student03": 2.0}))
    (row,) = one.rows("not-graded.csv")
    assert row["file"].endswith("student03_1_7_dots.ipynb") and "student03 handed in dots.ipynb" in row["reason"]
    assert "student03_1_8_dots__1_.ipynb is graded" in row["reason"]
    assert [line["total"] for line in one.rows()] == ["1", "1", "2"] and one.rows()[2]["remarks"] == ""


CANVAS = "Student,ID,SIS Login ID,Section,Dots (1)\n    Points Possible,,,,20\nA,1,student01,L,\nB,2,student02,L,7\n"
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Total Score,Max Points\n"
    "A,B,student01,1@example.org,,20\nC,D,,2@example.org,,20\nE,F,,3@example.org,,20\n"
)


def test_each_platform_gets_the_points_in_its_own_way(one, tmp_path):
    """Catches points in nobody's line, a correction left out, and an autograder for a platform that takes a table."""
    for name, text in (("canvas", CANVAS), ("gradescope", GRADESCOPE)):
        (tmp_path / f"{name}.csv").write_text(text)
    exports = read_gradebooks([tmp_path / "canvas.csv", tmp_path / "gradescope.csv"])
    one.write(grader=Points(points={"student01": 2.0}))
    grades = one.folder.path / "grades.csv"
    grades.write_text(re.sub(r"^(student02,.*),,,$", r"\1,-0.5,,", grades.read_text(), flags=re.MULTILINE))
    said = one.write(grader=Points(), gradebooks=exports)
    totals = [row["total"] for row in one.rows()]
    assert totals == ["2", "0.5", "0"]
    assert sorted(path.name for path in (one.folder.path / "gradebooks").iterdir()) == [
        "canvas.csv",
        "gradescope.csv",
        "gradescope.zip",
    ]
    filled = list(csv.reader((one.folder.path / "gradebooks/canvas.csv").open()))
    assert [row[4] for row in filled[2:]] == totals[:2]
    with zipfile.ZipFile(one.folder.path / "gradebooks/gradescope.zip") as archive:
        handed_back = json.loads(archive.read("points.json"))
    assert handed_back == {"1@example.org": 2.0, "2@example.org": 0.5}
    assert [sentence for sentence in said if "wait to be judged" in sentence] == [
        "Of 2 students answers wait to be judged: the gradebook has a part of their points."
    ]
    assert not any("wait" in sentence for sentence in one.write(grader=Points()))


def test_of_one_notebook_the_gradebook_has_its_own_points(one, tmp_path):
    """Catches a single notebook's column that knows nothing of the late days that the total beside it has."""
    (tmp_path / "canvas.csv").write_text(CANVAS)
    one.this_class = replace(one.this_class, rules=Rules(late=LateRule(0, 0.5)))
    students = one.this_class.roster.students
    late = replace(students[0], days_late=1)
    one.this_class = replace(one.this_class, roster=Roster((late, *students[1:])))
    exports = read_gradebooks([tmp_path / "canvas.csv"], ["dots.ipynb=Dots (1)"])
    one.write(grader=Points(points={"student01": 2.0}), gradebooks=exports)
    filled = list(csv.reader((one.folder.path / "gradebooks/canvas.csv").open()))
    assert (one.rows()[0]["total"], filled[2][4]) == ("1.5", "1.5")


def test_the_days_by_gradescope_take_points_off(tmp_path):
    """Catches a due date that marks as late, and by which nobody is late by a day."""
    made = class_of(1, tmp_path, worked_notebook(tmp_path / "notebooks"))
    (made.submissions / "student01").rename(made.submissions / "submission_1")
    (made.submissions / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :sid: student01\n  :created_at: 2026-03-03 00:01:00 Z\n"
    )
    due = datetime.fromisoformat("2026-03-02T00:00:00+00:00")
    made.this_class = replace(made.this_class, rules=Rules(due=due, late=LateRule(0, 0.5)))
    made.write(grader=Points())
    (row,) = made.rows()
    assert (row["days late"], row["late"], row["total"], row["remarks"]) == ("2", "-1", "0", "Late.")


def test_the_statistics_and_the_tables_are_where_they_are_looked_for(one):
    """Catches a table under another name, which the next run and the index do not find."""
    one.write(grader=Points())
    kept = {path.name for path in one.folder.path.iterdir()}
    assert {"grades.csv", "not-graded.csv", "statistics.html", "pages", "feedback", "questions", "results"} <= kept
    assert "names.csv" not in kept
    assert 'href="../statistics.html"' in (one.folder.path / "pages/index.html").read_text()


def test_a_result_that_passes_is_not_kept_and_others_are(one):
    """Catches a failed box that is a student's result for ever, and a class that is run again for one of them."""
    one.write(grader=Points(ungraded={"student02": "a box failed"}))
    again = Points()
    one.write(grader=again)
    assert [job.student for job in again.jobs] == ["student02"]


def test_alike_are_compared_notebook_by_notebook(tmp_path):
    """Catches the pairs of one notebook under the name of another, and a page for a notebook that nobody handed in."""
    worked = worked_notebook(tmp_path / "notebooks")
    text = " ".join(f"word{number}" for number in range(60))
    one = class_of(2, tmp_path, worked, answers=(text,))
    hand_in(one.submissions, "student03", worked, ["It rose.", "It did."])
    both = [worked, replace(worked, name="poker.ipynb")]
    one.this_class = replace(one.this_class, worked_notebooks=both, roster=Roster())
    one.folder.prepare()
    work = collected([one.submissions], one.this_class)
    list(graded(work, one.folder, Points()))
    assert write_similar(one.this_class, work, one.folder) == 1
    page = (one.folder.path / "similar.html").read_text()
    assert "student01 and student02" in page and "dots.ipynb" in page and "poker.ipynb" not in page
    assert write_similar(one.this_class, work, one.folder, threshold=1.01) == 0


def test_what_is_unpacked_is_gone_once_it_is_read(one, tmp_path, monkeypatch):
    """Catches submissions of a class unpacked where nobody deletes them."""
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(one.submissions / "student01" / "dots.ipynb", "student01/dots.ipynb")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    work = collected([path], one.this_class)
    ((submission, job),) = work.jobs
    assert job.student == "student01" and submission.file is None and not [*(tmp_path / "scratch").iterdir()]
    assert work.missing == ["student02", "student03"]


def test_a_form_of_a_stranger_is_said(one):
    """Catches points that reach nobody, without a word."""
    one.folder.prepare()
    work = collected([one.submissions], one.this_class)
    results = list(graded(work, one.folder, Points()))
    form = Form("eve", "dots.ipynb", {SUCCESS: 1.0}, "", 1.0, one.folder.path / "x.grades.json")
    said = write_class(one.this_class, work, results, [form, replace(form, student="")], one.folder)
    assert said == [f"{form.path}: {who} is not in this class. It was not counted." for who in ("eve", "nobody")]


@pytest.mark.parametrize(
    "name", ["student01_LATE_1_2_dots.ipynb", "student01_1_assignsubmission_file_/dots.ipynb", "student01/dots.ipynb"]
)
def test_feedback_goes_back_under_the_names_that_the_platform_gave(name, one):
    """Catches forty pages that are uploaded one by one, and one that reaches somebody else."""
    roster = one.this_class.roster.students
    one.this_class = replace(one.this_class, roster=Roster((replace(roster[0], names=("student01", "1")), *roster[1:])))
    place = one.submissions / "student01" / "dots.ipynb"
    shutil.rmtree(one.submissions / "student02")
    place.rename(one.submissions / "moved")
    place.parent.rmdir()
    (one.submissions / name).parent.mkdir(exist_ok=True)
    (one.submissions / "moved").rename(one.submissions / name)
    one.write(grader=Points())
    packed = one.folder.path / "feedback.zip"
    if name == "student01/dots.ipynb":
        assert not packed.exists()
        return
    with zipfile.ZipFile(packed) as archive:
        (back,) = archive.namelist()
        assert archive.read(back).decode() == (one.folder.path / "feedback/student01.html").read_text()
    assert back == name.replace("dots.ipynb", "feedback.html")
