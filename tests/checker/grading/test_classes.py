"""A whole class: what is run, what is not run again, what is written down, and for whom."""

import csv
import inspect
import json
import re
import shutil
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from checker.grading.box.walls import Isolation
from checker.grading.classes import Class
from checker.grading.collect import similarity
from checker.grading.collect.roster import Roster, Student
from checker.grading.judge import one_notebook
from checker.grading.judge.one_notebook import Settings, failed, grade
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.grading.results import graded
from checker.grading.table.feedback import feedback
from checker.grading.table.lateness import Lateness, LateRule
from checker.grading.table.rules import Rules
from checker.grading.table.students import Line
from checker.grading.work import collected
from checker.grading.writing import refuse_an_empty_class, write_class, write_similar
from checker.points.forms import Form
from checker.reading.notebook import Unreadable
from tests.checker.conftest import code
from tests.checker.grading.table.forty import items_of

EXERCISE = "# Cell 5: One GRPO step\ndef square(x):\n    # student code here\n    # TODO: x times x (2 points, 5 minutes)\n    {}\n    # end student code\ncheck.square(square)"
RESULT = {"notebook": "maths.ipynb", "items": [], "earned": 0.0, "possible": 0.0, "stopped": "", "findings": []}


def notebook(*sources):
    cells = [code(source) | {"id": f"cell-{number}"} for number, source in enumerate(sources)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


@pytest.fixture
def worked(tmp_path):
    path = tmp_path / "notebooks" / "maths.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(notebook(EXERCISE.format("return x * x"))))
    return read_worked_notebook(path)


@pytest.fixture
def submissions(tmp_path):
    """Hand in: a student's notebook with this solution."""
    folder = tmp_path / "submissions"

    def hand_in(student, solution="return x * x", *more):
        place = folder / student
        place.mkdir(parents=True, exist_ok=True)
        (place / "maths.ipynb").write_text(json.dumps(notebook(EXERCISE.format(solution), *more)))
        return folder

    return hand_in


@pytest.fixture
def this_class(worked):
    settings = Settings(7, Isolation("none"))
    return Class([worked], settings, Roster(tuple(Student(name, (name,)) for name in ("ann", "bob", "cy"))))


@pytest.fixture
def nameless(this_class):
    return replace(this_class, rules=Rules(anonymous=True))


class Grader:
    """Gives everyone two points and remembers whom it graded. stops_after: as if killed then."""

    def __init__(self, stops_after=None):
        self.graded = []
        self.stops_after = stops_after

    def __call__(self, jobs):
        for job in jobs:
            if len(self.graded) == self.stops_after:
                raise KeyboardInterrupt
            self.graded.append(job.student)
            items = [{**failed(job, "")["items"][0], "earned": 2.0, "verdict": f"right, {job.student}"}]
            given = {"items": items, "earned": 2.0, "possible": 2.0, "page": f"page of {job.student}"}
            yield job, failed(job, "") | given


def run(this_class, folder, submitted, tmp_path, grader, forms=(), again=()):
    work = collected([submitted], this_class)
    refuse_an_empty_class(work, folder)
    results = list(graded(work, folder, grader, again))
    said = write_class(this_class, work, results, list(forms), folder)
    return work, said


def table(folder):
    return {line["student"]: line for line in csv.DictReader((folder.path / "grades.csv").open(encoding="utf-8-sig"))}


def test_a_second_run_grades_only_what_changed(this_class, folder, submissions, tmp_path):
    """Catches hours spent again for one late notebook, and a changed one that keeps its old points."""
    submissions("ann"), submissions("bob")
    first = Grader()
    run(this_class, folder, submissions("ann"), tmp_path, first)
    second = Grader()
    run(this_class, folder, submissions("bob", "return x ** 2"), tmp_path, second)
    assert (sorted(first.graded), second.graded) == (["ann", "bob"], ["bob"])


@pytest.mark.parametrize("changed", ["shared/losses.py", "checker/outputs/check_results.py"])
def test_a_course_that_changed_grades_anew(changed, this_class, folder, submissions, tmp_path, monkeypatch):
    """Catches points that stay as a wrong reference, or a wrong check, gave them after it was mended."""
    for name in ("shared/losses.py", "checker/outputs/check_results.py"):
        (tmp_path / "course" / name).parent.mkdir(parents=True)
        (tmp_path / "course" / name).write_text("before")
    monkeypatch.setattr(one_notebook, "ROOT", tmp_path / "course")
    one_notebook.course.cache_clear()
    run(this_class, folder, submissions("ann"), tmp_path, Grader())
    (tmp_path / "course" / changed).write_text("after")
    one_notebook.course.cache_clear()
    again = Grader()
    run(this_class, folder, submissions("ann"), tmp_path, again)
    one_notebook.course.cache_clear()
    assert again.graded == ["ann"]


@pytest.mark.parametrize(
    ("places", "chosen"),
    [
        (("annlee_1_70_maths.ipynb", "annlee_1_71_maths__1_.ipynb"), "annlee_1_71_maths__1_.ipynb"),
        (("annlee_1_71_maths.ipynb", "annlee_1_70_maths__1_.ipynb"), "annlee_1_71_maths.ipynb"),
        (("ann/maths.ipynb", "ann/maths (1).ipynb"), None),
    ],
)
def test_of_two_versions_under_two_names_the_later_counts(places, chosen, this_class, worked, tmp_path):
    """Catches the older one graded because its name comes first, as a browser and Canvas number a second download."""
    handed_in = tmp_path / "submissions"
    for place, solution in zip(places, ("return x * x", "return x ** 2")):
        (handed_in / place).parent.mkdir(parents=True, exist_ok=True)
        (handed_in / place).write_text(json.dumps(notebook(EXERCISE.format(solution))))
    known = Roster((Student("ann", ("ann", "Ann Lee")),))
    work = collected([handed_in], Class([worked], this_class.settings, known))
    graded_places = [submission.place.rpartition("submissions/")[2] for submission, _ in work.jobs]
    assert graded_places == ([chosen] if chosen else [])
    assert work.missing == []


def lab(number):
    """A worked notebook that differs from others of its name by a number, as a student hands it in."""
    return notebook(EXERCISE.format(f"return x * x + {number} - {number}"))


@pytest.mark.parametrize(
    ("names", "graded_as"),
    [(("lab-1", "lab-2"), {"lab-1.ipynb": "lab-1.ipynb", "lab-2.ipynb": "lab-2.ipynb"}), (("lab",), {})],
    ids=["each is known", "which is it"],
)
def test_files_that_differ_by_a_number_are_no_versions(names, graded_as, this_class, tmp_path):
    """Catches the first lab dropped as the older version of the second, where metadata do not say what they are."""
    worked_notebooks = []
    for name in names:
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        path.write_text(json.dumps(lab(0)))
        worked_notebooks.append(read_worked_notebook(path))
    handed_in = tmp_path / "submissions"
    handed_in.mkdir()
    for number in (1, 2):
        (handed_in / f"annlee_1_{70 + number}_lab-{number}.ipynb").write_text(json.dumps(lab(number)))
    known = Roster((Student("ann", ("ann", "Ann Lee")),))
    work = collected([handed_in], Class(worked_notebooks, this_class.settings, known))
    assert {submission.name: job.notebook for submission, job in work.jobs} == graded_as
    assert len(work.ungraded) == (0 if graded_as else 2)
    assert all("do not say which notebook they are" in one.reason for one in work.ungraded)


def test_of_one_edition_the_later_counts_whatever_the_names(this_class, worked, tmp_path):
    """Catches two versions that say which notebook they are, and neither is graded."""
    handed_in = tmp_path / "submissions"
    handed_in.mkdir()
    for number in (1, 2):
        content = lab(number) | {"metadata": {"course": {"version": "1", "exercises": worked.edition}}}
        (handed_in / f"annlee_1_{70 + number}_lab-{number}.ipynb").write_text(json.dumps(content))
    work = collected([handed_in], Class([worked], this_class.settings, Roster()))
    assert [submission.name for submission, _ in work.jobs] == ["lab-2.ipynb"]


def test_a_group_is_not_like_itself(this_class, folder, tmp_path):
    """Catches the members of a group shown as a pair of copies: they handed in one file."""
    place = tmp_path / "export" / "submission_1"
    place.mkdir(parents=True)
    own = textwrap.indent(inspect.getsource(similarity.pairs), "    ").lstrip()
    (place / "maths.ipynb").write_text(json.dumps(notebook(EXERCISE.format(f"{own}\n    return x * x"))))
    people = "  - :sid: ann\n  - :sid: bob\n"
    (place.parent / "submission_metadata.yml").write_text(f"submission_1:\n  :submitters:\n{people}")
    work, _ = run(this_class, folder, place.parent, tmp_path, Grader())
    assert {submission.student for submission, _ in work.jobs} == {"ann", "bob"} and work.missing == ["cy"]
    assert write_similar(this_class, work, folder) == 0


def test_what_is_no_notebook_is_set_aside_before_grading(this_class, submissions, tmp_path):
    """Catches a file with a notebook's name whose cells are none: the run ended in a traceback, after all was graded."""
    place = submissions("ann") / "ann" / "maths.ipynb"
    content = json.loads(place.read_text())
    place.write_text(json.dumps(content | {"cells": ["x", *content["cells"]]}))
    work = collected([place.parent.parent], this_class)
    assert not work.jobs and "at place 1 of the file is not a cell but str" in work.ungraded[0].reason


def test_a_path_that_is_not_there_changes_nothing(this_class, tmp_path):
    """Catches a slip of the pen that writes an empty table and deletes every page of the class."""
    with pytest.raises(Unreadable, match="is not there. Nothing was graded"):
        collected([tmp_path / "submisions"], this_class)


def broken(jobs):
    return [(job, failed(job, "\ud800 in the middle")) for job in jobs]


def test_half_a_character_stops_nobody(this_class, submissions, folder, tmp_path):
    """Catches a class that no call can finish, since one program raised an error with half a character in it."""
    work = collected([submissions("ann")], this_class)
    results = list(graded(work, folder, broken))
    write_class(this_class, work, results, [], folder)
    assert "? in the middle" in (folder.path / "feedback" / "ann.html").read_text()


def test_who_handed_in_what_cannot_be_graded_is_told(this_class, folder, submissions, tmp_path):
    """Catches "nothing was handed in" said to who handed in two versions, or a notebook of another edition."""
    place = submissions("ann") / "ann"
    (place / "maths (1).ipynb").write_text(json.dumps(notebook(EXERCISE.format("return x ** 2"))))
    (place.parent / "bob").mkdir()
    (place.parent / "bob" / "holiday.ipynb").write_text(json.dumps(notebook("1")))
    work, _ = run(this_class, folder, place.parent, tmp_path, Grader())
    remarks = {student: line["remarks"] for student, line in table(folder).items()}
    assert remarks["ann"] == "maths.ipynb was handed in twice, and which is the later one is not known."
    assert remarks["bob"].startswith("holiday.ipynb was not graded: It does not say which notebook it is")
    assert work.missing == ["cy"]
    assert "handed in twice" in (folder.path / "feedback" / "ann.html").read_text()


@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_that_is_no_notebook_is_told_and_is_no_0(this_class, folder, submissions, tmp_path, zipped):
    """Catches "no notebook was handed in", and 0 points, for a notebook under a wrong name or one that cannot be read."""
    place = submissions("ann") / "ann"
    (place / "notes.txt").write_text("x")
    (place / ".DS_Store").write_text("x")
    for student, name, text in (("bob", "maths.ipynb.json", "{}"), ("cy", "maths.ipynb", "{ half")):
        (place.parent / student).mkdir()
        (place.parent / student / name).write_text(text)
    given = Path(shutil.make_archive(tmp_path / "all", "zip", place.parent)) if zipped else place.parent
    work, _ = run(this_class, folder, given, tmp_path, Grader())
    found = table(folder)
    assert work.missing == []
    assert found["bob"]["remarks"] == "maths.ipynb.json was not graded: It is not a notebook."
    assert found["cy"]["remarks"].startswith("maths.ipynb was not graded: ")
    assert {found[student][name] for student in ("bob", "cy") for name in ("square", "checks", "total")} == {""}
    assert (found["ann"]["total"], found["ann"]["remarks"]) == ("2", "")


def test_a_second_notebook_that_cannot_be_read_leaves_the_total_open(this_class, folder, submissions, tmp_path):
    """Catches a total, in the table or in the feedback, without a notebook that was handed in."""
    place = submissions("ann") / "ann"
    (place / "ppo.ipynb.json").write_text("{}")
    run(this_class, folder, place.parent, tmp_path, Grader())
    line = table(folder)["ann"]
    assert (line["square"], line["total"]) == ("2", "") and "ppo.ipynb.json was not graded" in line["remarks"]
    assert "No total yet" in (folder.path / "feedback" / "ann.html").read_text()


def test_what_was_graded_before_a_stop_is_kept(this_class, folder, submissions, tmp_path):
    """Catches results that are written at the end, and lost with a killed grader."""
    submissions("ann"), submissions("bob")
    with pytest.raises(KeyboardInterrupt):
        run(this_class, folder, submissions("cy"), tmp_path, Grader(stops_after=2))
    rest = Grader()
    run(this_class, folder, submissions("cy"), tmp_path, rest)
    assert len(rest.graded) == 1


def test_a_students_page_holds_nothing_of_another(this_class, folder, submissions, tmp_path):
    """Catches feedback that tells one student of another one."""
    submissions("ann")
    run(this_class, folder, submissions("bob"), tmp_path, Grader())
    page = (folder.path / "feedback" / "ann.html").read_text()
    assert "right, ann" in page and "bob" not in page


def test_feedback_names_a_cell_as_the_notebook_does(this_class, folder):
    """Catches "cell 5" said of what a student knows as Cell 3: the file counts its cells in another way."""
    found = {"level": "error", "code": "C002", "cell": 5, "found": "it", "advice": "Do.", "place": "Cell 3: Data"}
    page = feedback(Line("ann", {"maths.ipynb": RESULT | {"findings": [found]}}), "ann")
    assert "C002, Cell 3: Data: it." in page and "cell 5" not in page


def test_code_is_shown_as_code_in_feedback_and_nothing_else_is_markup():
    """Catches backticks in front of a student, and a name in a verdict that becomes a script on the page."""
    item = {"key": "a/1", "name": "f", "wanted": "", "field": "f", "written": False, "section": "", "points": 2.0}
    item |= {"earned": 0.0, "verdict": "There is no function `<b>` here: <script>"}
    page = feedback(Line("ann", {"maths.ipynb": RESULT | {"items": [item], "possible": 2.0}}), "ann")
    assert "There is no function <code>&lt;b&gt;</code> here: &lt;script&gt;" in page


def test_points_of_a_form_and_a_correction_reach_feedback(this_class, folder, submissions, tmp_path):
    """Catches a student who reads another total than the table has, and a slip on a form of which nobody is told."""
    hand_in = submissions("ann")
    run(this_class, folder, hand_in, tmp_path, Grader())
    place = folder.path / "grades.csv"
    place.write_text(place.read_text().replace("ann,2,2,2,,,2,0,0,,,,", "ann,2,2,2,,,2,0,0,,-0.5,,"))
    form = Form("ann", "maths.ipynb", {"Evaluation": 4.0}, "", 0.0, tmp_path / "a.grades.json")
    run(this_class, folder, hand_in, tmp_path, Grader(), [form])
    assert table(folder)["ann"]["total"] == "5.5"
    page = (folder.path / "feedback" / "ann.html").read_text()
    assert "5.5 points in all: 2 by checks, 0 by hand, 4 by the rubric, -0.5 by correction." in page


def test_too_many_points_on_a_form_are_said(this_class, folder, submissions, tmp_path):
    """Catches 25 for 2.5, counted or left out without a word."""

    def unjudged(jobs):
        for job in jobs:
            yield job, one_notebook._result(job, items_of(job, None))

    form = Form("ann", "maths.ipynb", {"Exercise: square": 25.0}, "", 0.0, tmp_path / "a.grades.json")
    _, said = run(this_class, folder, submissions("ann"), tmp_path, unjudged, [form])
    assert said == [
        f"{form.path}: Exercise: square is worth 2 and has 25 points. Mend it on the page: it was not counted."
    ]
    assert table(folder)["ann"]["total"] == "0"


def test_anonymous_pages_carry_no_name_and_their_forms_find_home(nameless, folder, submissions, tmp_path):
    """Catches a name in a file's name or on a page that goes without, and points of such a form that reach nobody."""
    shown = nameless.pseudonym_of("ann")
    form = Form(shown, "maths.ipynb", {"Evaluation": 4.0}, "", 0.0, tmp_path / "a.grades.json")
    run(nameless, folder, submissions("ann"), tmp_path, Grader(), [form])
    pages = [*folder.path.glob("pages/**/*"), *folder.path.glob("feedback/**/*")]
    assert pages
    for page in pages:
        assert "ann" not in page.name
        assert page.is_dir() or not re.search(r"\bann\b", page.read_text())  # "cannot" is no name
    assert table(folder)["ann"]["rubric"] == "4"


def test_without_names_pages_stand_in_an_order_that_tells_none(nameless, folder, submissions, tmp_path):
    """Catches a first line of the index that is Ann's whatever it is called."""
    students = ("ann", "bob", "cy")
    run(nameless, folder, submissions(*students), tmp_path, Grader())
    listed = re.findall(r"student-[0-9a-f]{8}", (folder.path / "pages" / "index.html").read_text())
    shown = [nameless.pseudonym_of(student) for student in students]
    assert list(dict.fromkeys(listed)) == sorted(shown) != shown


def test_pages_with_names_go_when_pages_are_made_without(nameless, this_class, folder, submissions, tmp_path):
    """Catches an earlier run's pages, with names, among those that are handed to somebody who should not see any."""
    run(this_class, folder, submissions("ann"), tmp_path, Grader())
    question = folder.write("questions/of-ann.html", "Ann's answer")
    run(nameless, folder, submissions("ann"), tmp_path, Grader())
    assert len([*folder.path.glob("pages/*/*.html")]) == 1
    assert not [page for page in folder.path.glob("feedback/*.html") if page.stem in ("ann", "bob", "cy")]
    assert not question.exists()


def test_alike_are_shown_and_alone_right_are_not(this_class, folder, submissions, tmp_path):
    """Catches right answers called copies, and a copy with other names that goes unseen."""
    own = textwrap.indent(inspect.getsource(similarity.pairs), "    ").lstrip()
    submissions("ann", f"{own}\n    return x * x")
    submissions("bob", f"{own.replace('texts', 'notebooks').replace('often', 'n')}\n    return x * x")
    work, _ = run(this_class, folder, submissions("cy"), tmp_path, Grader())
    assert write_similar(this_class, work, folder) == 1
    page = (folder.path / "similar.html").read_text()
    assert "ann and bob" in page and "<mark>" in page and "cy:" not in page


def test_a_copy_in_a_module_is_shown(this_class, folder, submissions, tmp_path):
    """Catches a copied solution that lies in a file beside the notebook, where nobody looked."""
    for student in ("ann", "bob"):
        submissions(student, "return mine.pairs(x)")
        (tmp_path / "submissions" / student / "mine.py").write_text(inspect.getsource(similarity.pairs))
    work, _ = run(this_class, folder, tmp_path / "submissions", tmp_path, Grader())
    assert write_similar(this_class, work, folder) == 1


@pytest.mark.slow
def test_a_notebook_is_run_whole_and_its_outputs_and_page_come_back(
    worked, this_class, submissions, tmp_path, monkeypatch, isolation
):
    """Catches outputs of before its run on the page, and a run that stops without saying where; with a real kernel."""
    monkeypatch.setattr(one_notebook, "judge", lambda job, references: {})
    monkeypatch.setattr(one_notebook, "_references", lambda seed: None)
    settings = Settings(7, isolation)
    folder = submissions(
        "ann", "return x * x", "print('fresh', 6 * 7)", "# Cell 6: Training loop\n1 / 0", "print('late')"
    )
    (job,) = (job for _, job in collected([folder], Class([worked], settings)).jobs)
    result = grade(job)
    assert result["stopped"] == "Cell 5: One GRPO step stopped with an error."  # `check` is not defined there
    assert "fresh 42" not in result["page"]
    assert 'data-student="ann"' in result["page"]
    assert 'data-criterion="Exercise: square"' in result["page"]  # nothing judged it, so a person gives its points


def test_two_right_answers_like_the_worked_one_are_no_copies(this_class, folder, submissions, tmp_path):
    """Catches everybody who solved it as the course does shown as a pair of copies."""
    own = textwrap.indent(inspect.getsource(similarity.pairs), "    ").lstrip()
    solution = f"{own}\n    return x * x"
    path = tmp_path / "notebooks" / "maths.ipynb"
    path.write_text(json.dumps(notebook(EXERCISE.format(f"# TODO: x\n    {solution}".partition("\n    ")[2]))))
    by_course = replace(this_class, worked_notebooks=[read_worked_notebook(path)])
    submissions("ann", solution), submissions("bob", solution)
    work, _ = run(by_course, folder, submissions("cy"), tmp_path, Grader())
    assert write_similar(by_course, work, folder) == 0


def test_a_pseudonym_is_of_this_class_alone(nameless):
    """Catches a name that whoever has a list of names can compute, and that follows a student from class to class."""
    other = replace(nameless, settings=replace(nameless.settings, seed=8))
    assert nameless.pseudonym_of("ann") == replace(nameless).pseudonym_of("ann") != other.pseudonym_of("ann")
    assert nameless.pseudonym_of("ann") != nameless.pseudonym_of("bob") and "ann" not in nameless.pseudonym_of("ann")


def test_what_is_not_assigned_does_not_count(this_class, folder, submissions, tmp_path):
    """Catches a student who hands in two more chapters than were asked for and has more points than there are."""
    assigned = replace(this_class, rules=Rules(notebooks=("other.ipynb",)))
    graded = Grader()
    run(assigned, folder, submissions("ann"), tmp_path, graded)
    assert graded.graded == [] and table(folder)["ann"]["total"] == ""
    assert table(folder)["ann"]["remarks"] == "maths.ipynb was not graded: it is not assigned."


def test_a_notebooks_column_bears_its_part_of_the_late_days():
    """Catches a platform's column for one notebook that knows no lateness, while the total does."""
    by_check = {
        name: {"items": [], "earned": points, "seconds": 0} for name, points in (("a.ipynb", 6.0), ("b.ipynb", 2.0))
    }
    for result in by_check.values():
        result["items"] = [{"earned": result["earned"], "points": 6.0, "section": "", "field": "x"}]
    for rule, parts in ((LateRule(0, 10.0, True), [5.4, 1.8, 7.2]), (LateRule(0, 2.0), [4.5, 1.5, 6.0])):
        line = Line("ann", by_check, lateness=Lateness(rule, 1, 0))
        assert [line.points(name, "") for name in ("a.ipynb", "b.ipynb", "")] == parts
