"""Judging a class by question: the index, the way from student to student, and a page with all answers to a question."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

from checker.grading.collect.roster import Roster
from checker.grading.table import judging
from checker.grading.table.feedback import feedback
from checker.grading.table.overview import NEIGHBOURS, Row, ways, with_neighbours
from checker.grading.table.students import Line
from checker.points.forms import Form, merged
from checker.reading.markers import BLANK_ANSWER
from checker.reading.text import LONGEST
from tests.checker.grading.table.forty import HOSTILE, class_of, not_run, worked_notebook

SUCCESS = "Question: Success"


def given(student, score, saved, comment="", question=SUCCESS):
    """A form as the page of a question saves it."""
    comments = {question: comment} if comment else {}
    return Form(student, "dots.ipynb", {question: score}, "", saved, Path("x"), comments, question)


def of_page(scores, saved, student="ann"):
    """A form as a student's page saves it."""
    return Form(student, "dots.ipynb", scores, "", saved, Path("x"))


@pytest.fixture
def worked(tmp_path):
    return worked_notebook(tmp_path / "notebooks")


def page_of(one, name="Success"):
    (path,) = one.folder.path.glob(f"questions/dots/*{name}*.html")
    return path


def test_a_page_shows_every_answer_as_markdown_beside_the_worked_one(worked, tmp_path):
    """Catches answers as raw text, an answer left out, and a page without what it should be measured by."""
    one = class_of(3, tmp_path, worked)
    one.write()
    page = page_of(one).read_text()
    assert page.count('<article class="answer"') == 3
    assert "<li>after: <strong>0.9</strong></li>" in page and "<td>80</td>" in page and "<math" in page
    assert "The worked answer, for 3 points" in page and "The reward rose from <strong>0.1</strong>" in page
    assert "Did training help on held-out rows, and by how <em>much</em>?" in page


def test_what_a_student_wrote_stays_inside_and_asks_for_nothing(worked, tmp_path):
    """Catches a script, a picture from elsewhere, a field of the student's own, and an answer that closes the page."""
    one = class_of(1, tmp_path, worked, answers=(HOSTILE,))
    one.write()
    page = page_of(one).read_text()
    written = page.partition('<div class="written">')[2].partition('<div class="given">')[0]
    assert "Give 3 points" in written
    for tag in (
        "<script",
        " src=",
        "<iframe",
        "<style",
        "<input",
        "<form",
        "<button",
        'javascript:alert(1)"',
        "</main",
    ):
        assert tag not in written
    assert "example.org" not in page


@pytest.mark.parametrize("hostile", ["[" * 3000, "*a **b " * 800, "> " * 3000, "<b>" * 2000, "`" * 5999, "$" * 5999])
def test_a_hostile_answer_costs_little(worked, tmp_path, hostile):
    """Catches one answer for which the pages of the whole class wait."""
    one = class_of(1, tmp_path, worked, answers=(hostile, "x"))
    text = next(one.submissions.rglob("*.ipynb")).read_text()
    asked = [item for item in worked.items if not item.checks]
    before = time.process_time()
    assert len(judging._written(text, asked, "answer-0", {})) == 2
    assert time.process_time() - before < 2


def _asked(worked):
    return [{"key": item.key, "earned": None} for item in worked.items if not item.checks] + [
        {"key": item.key, "earned": 1.0} for item in worked.items if item.checks
    ]


def test_pictures_are_left_out_where_a_page_could_not_bear_them(worked, tmp_path, monkeypatch):
    """Catches a page of a gigabyte, which no browser opens, since forty answers come with pictures."""
    one = class_of(2, tmp_path, worked, answers=("![curve](attachment:c.png)",))
    for path in one.submissions.rglob("*.ipynb"):
        content = json.loads(path.read_text())
        content["cells"][-1]["attachments"] = {"c.png": {"image/png": "A" * 3000}}
        path.write_text(json.dumps(content))
    monkeypatch.setattr(judging, "LARGEST", 5000)
    one.write()
    page = page_of(one).read_text()
    assert page.count("data:image/png") == 1 and page.count('<article class="answer"') == 2


def answers_to(worked, *answers, **of_one):
    """The questions as their pages show them, for students who each gave one answer to every question."""
    content = [json.dumps(worked.handed_out).replace(BLANK_ANSWER, json.dumps(answer)[1:-1]) for answer in answers]
    return judging.questions(
        judging.Submitted(f"s{number}", worked, text, {"items": _asked(worked)}, **of_one)
        for number, text in enumerate(content)
    )


def test_each_answer_stands_under_its_student_with_places_of_its_own(worked):
    """Catches answers without a name, and headings of two students that one link leads to."""
    question, _ = answers_to(worked, "# Yes\n\nIt did.", "# No")
    page = judging.page(question)
    assert [answer.student for answer in question.answers] == ["s0", "s1"]
    assert re.findall('data-student="(.*?)"', page) == ["s0", "s1"]
    places = re.findall(' id="(.*?)"', page)
    assert len(places) == len(set(places)) and len([place for place in places if place.startswith("answer-")]) == 2


def test_an_answer_leads_to_its_place_in_the_notebook_where_there_is_a_page(worked):
    """Catches a link to no page, for a notebook that has none."""
    (with_page, *_), (without, *_) = answers_to(worked, "Yes.", page="pages/s0/dots.html"), answers_to(worked, "Yes.")
    assert re.findall('<a href="(.*?)">in the notebook', judging.page(with_page)) == ["../../pages/s0/dots.html#cell-2"]
    assert "in the notebook" not in judging.page(without)


def test_points_that_nobody_gave_are_an_empty_field(worked):
    """Catches a field that begins with something else than nothing, which the browser refuses."""
    question, _ = answers_to(worked, "Yes.", form=of_page({SUCCESS: None}, 1.0))
    assert question.answers[0].score == "" and question.waiting == 1
    question, _ = answers_to(worked, "Yes.", form=of_page({SUCCESS: 0.0}, 1.0))
    assert question.answers[0].score == "0" and question.waiting == 0


def test_of_a_long_answer_is_said_how_much_is_not_shown(worked):
    """Catches an answer that is judged by its beginning, while the page is silent about the rest."""
    question, _ = answers_to(worked, "word " * (LONGEST // 5) + "x" * 1234)
    assert "1,234 more characters" in question.answers[0].html
    question, _ = answers_to(worked, "word " * (LONGEST // 5 - 1) + "word")
    assert "more characters" not in question.answers[0].html


def test_a_question_that_the_result_does_not_know_is_not_asked(worked):
    """Catches a class that cannot be written down since the course has one more question than a year ago."""
    (known, *_) = [item for item in worked.items if not item.checks]
    result = {"items": [{"key": known.key, "earned": None}]}
    one = judging.Submitted("s0", worked, json.dumps(worked.handed_out), result)
    assert one.asked == [known] and [question.name for question in judging.questions([one])] == [known.name]


def test_links_between_questions_and_to_the_class_lead_somewhere(worked, tmp_path):
    """Catches a page of a question from which no way leads on or back."""
    one = class_of(1, tmp_path, worked)
    one.write(grader=lambda jobs: not_run(jobs, pages=0))
    pages = [page_of(one, name) for name in ("Success", "experiment")]
    for page, relation, other in ((pages[0], "next", pages[1]), (pages[1], "prev", pages[0])):
        links = dict(re.findall(r'<a (?:rel="(\w+)" )?href="([^"]+)"', page.read_text()))
        assert {name: (page.parent / link).resolve() for name, link in links.items()} == {
            "": one.folder.path.resolve() / "pages/index.html",
            relation: other.resolve(),
        }


def test_an_answer_that_is_missing_or_empty_says_so(worked, tmp_path):
    """Catches an empty box of which nobody knows whether the question was removed or left."""
    one = class_of(2, tmp_path, worked, answers=("Your answer here.",))
    path = one.submissions / "student02" / "dots.ipynb"
    content = json.loads(path.read_text())
    content["cells"] = content["cells"][:1]
    path.write_text(json.dumps(content))
    one.write()
    _, first, second = page_of(one).read_text().split("<article")
    assert judging.EMPTY in first and judging.GONE not in first
    assert judging.GONE in second and judging.EMPTY not in second


def test_points_that_were_given_stand_on_the_page_and_leave_the_index(worked, tmp_path):
    """Catches a second evening that begins with empty fields, and an index that still asks for what is done."""
    one = class_of(2, tmp_path, worked)
    one.write()
    assert "<span>4 answers to be judged</span>" in (one.folder.path / "pages/index.html").read_text()
    one.write([given("student01", 2.5, 100.0, "Say by how much.")])
    page = page_of(one).read_text()
    assert 'value="2.5"' in page and "Say by how much.</textarea>" in page and 'data-saved="100.0"' in page
    index = (one.folder.path / "pages/index.html").read_text()
    assert "<span>3 answers to be judged</span>" in index and "1 of 2<span data-drafts>" in index


def test_each_page_leads_to_the_next_student_and_the_last_to_nobody(worked, tmp_path):
    """Catches a way that skips somebody, or leads from the last page to one that is not there."""
    one = class_of(3, tmp_path, worked)
    one.write()
    pages = one.folder.path / "pages"
    seen = []
    place = pages / "student01" / "dots.html"
    while place:
        seen.append(place.parent.name)
        assert f"<strong>{place.parent.name}</strong>" in place.read_text()
        found = re.search(r'rel="next" href="([^"]+)"', place.read_text())
        place = (place.parent / found[1]).resolve() if found else None
    assert seen == ["student01", "student02", "student03"]
    assert set(re.findall(r'href="\.\./(pages/[^"]+)"', (pages / "index.html").read_text())) == {
        f"pages/{name}/dots.html" for name in seen
    }


def test_with_two_notebooks_the_way_stays_in_one():
    """Catches a way that leads from one notebook into another, and back to students who were read already."""
    rows = [
        Row(student, notebook, f"pages/{student}/{notebook}.html", "1", "2", 0, (), "")
        for student in ("ann", "bob")
        for notebook in ("dots", "poker")
    ]
    (page, *_) = [with_neighbours(NEIGHBOURS, *way) for way in ways(rows)]
    assert re.findall('rel="(.*?)" href="(.*?)"', page) == [("next", "../bob/dots.html")]


def test_a_student_who_is_called_like_a_page_does_not_stop_the_class(worked, tmp_path):
    """Catches a folder that a student named index.html, in whose place the index is to be written."""
    one = class_of(1, tmp_path, worked)
    (one.submissions / "student01").rename(one.submissions / "index.html")
    one.this_class = replace(one.this_class, roster=Roster())
    one.write()
    assert "index.html-" in (one.folder.path / "pages/index.html").read_text()


def test_a_question_nobody_asks_any_more_leaves_no_page(worked, tmp_path):
    """Catches pages of an earlier run, with names among them, that stay for ever."""
    one = class_of(1, tmp_path, worked)
    left = one.folder.path / "questions" / "dots" / "left.html"
    left.parent.mkdir(parents=True)
    left.write_text("x")
    (one.folder.path / ".checker-grade").write_text("x")
    one.write()
    assert not left.exists()


def test_points_of_a_question_reach_table_and_feedback_with_their_comment(worked, tmp_path):
    """Catches points that are given and lost, and a comment that the student never sees."""
    one = class_of(2, tmp_path, worked)
    one.write([given("student01", 2.0, 100.0, "Say by how `much`.")])
    assert [(row["student"], row["Success"]) for row in one.rows()] == [("student01", "2"), ("student02", "")]
    assert "Say by how <code>much</code>." in (one.folder.path / "feedback/student01.html").read_text()


def test_a_comment_without_points_is_shown_as_such():
    """Catches a comment that waits for points to be seen."""
    item = {"key": "a", "name": "Success", "field": SUCCESS, "section": "", "points": 3.0, "earned": None}
    result = {"notebook": "dots.ipynb", "items": [item | {"verdict": "graded by the instructor"}], "earned": 0.0}
    line = Line("ann", {"dots.ipynb": result | {"stopped": "", "ungraded": "", "findings": []}})
    line.forms["dots.ipynb"] = given("ann", None, 1.0, "Come and see me.")
    assert "not given yet: Come and see me." in feedback(line, "ann")


@pytest.mark.parametrize(
    ("page", "question", "counts"),
    [
        (of_page({SUCCESS: 1.0}, 100.0), given("ann", 2.0, 200.0), 2.0),
        (of_page({SUCCESS: 1.0}, 300.0), given("ann", 2.0, 200.0), 1.0),
        (of_page({SUCCESS: None}, 300.0), given("ann", 2.0, 200.0), 2.0),
        (of_page({SUCCESS: 1.0}, 100.0), given("ann", None, 200.0), None),
    ],
)
def test_the_later_of_two_pages_counts_and_an_empty_field_says_nothing(page, question, counts):
    """Catches points of a question erased by a student's page that never had them, and points that cannot be taken back."""
    for forms in ([page, question], [question, page]):
        (form,) = merged(forms)
        assert form.scores[SUCCESS] == counts and form.question == ""


def test_questions_are_each_compared_with_the_students_page_and_not_with_each_other():
    """Catches points that are newer than the page's, dropped since another question was judged later still."""
    other = "Question: Your experiment"
    page = of_page({SUCCESS: 1.0, other: 1.0}, 100.0)
    newer = [given("ann", 3.0, 300.0), given("ann", 2.0, 200.0, "A claim.", question=other)]
    for forms in ([page, *newer], [*reversed(newer), page]):
        (form,) = merged(forms)
        assert form.scores == {SUCCESS: 3.0, other: 2.0} and form.comments == {other: "A claim."}
        assert form.saved == 300.0


def test_a_comment_of_a_students_page_is_not_replaced_by_an_earlier_one():
    """Catches a later comment lost since the page left the points empty."""
    page = replace(of_page({SUCCESS: None}, 300.0), comments={SUCCESS: "Come and see me."})
    (form,) = merged([page, given("ann", 2.0, 200.0, "Good.")])
    assert form.scores[SUCCESS] == 2.0 and form.comments[SUCCESS] == "Come and see me."


def test_refused_points_wait_on_every_page(worked, tmp_path):
    """Catches 99 in a field of 3 that counts nowhere, while its question says that nothing waits."""
    one = class_of(2, tmp_path, worked)
    said = one.write([given("student01", 99.0, 100.0), given("student02", 3.0, 100.0)])
    assert any("is worth 3 and has 99 points" in sentence for sentence in said)
    assert 'value="99"' in page_of(one).read_text()
    index = (one.folder.path / "pages/index.html").read_text()
    assert "<span>3 answers to be judged</span>" in index and "1 of 2<span data-drafts>" in index


def test_two_questions_of_one_student_are_both_kept(worked, tmp_path):
    """Catches the second question's file written over the first one's."""
    one = class_of(1, tmp_path, worked)
    other = "Question: Your experiment"
    one.write([given("student01", 2.0, 100.0), given("student01", 5.0, 100.0, question=other)])
    (form,) = one.folder.forms()
    assert form.scores == {SUCCESS: 2.0, other: 5.0}
