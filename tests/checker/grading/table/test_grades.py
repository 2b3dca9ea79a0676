"""The table of grades, its corrections, and the forms whose points it adds up."""

import csv
import io
import json
import os
import re
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from checker.grading.table import grades
from checker.grading.table.class_folder import Folder, file_name, forget
from checker.grading.table.feedback import feedback
from checker.grading.table.gradescope import results
from checker.grading.table.lateness import Lateness, LateRule
from checker.grading.table.students import Line, add_forms
from checker.points.forms import Form, read_forms
from checker.points.totals import refused
from checker.reading.notebook import Unreadable
from checker.setup.environment import ROOT


def result(**changed):
    item = exercise("kl", "", 2.0, 2.0, field="Exercise: kl")
    plain = {"notebook": "dots.ipynb", "items": [item], "earned": 2.0, "possible": 2.0, "stopped": "", "seconds": 3.0}
    return plain | {"findings": [], "page": ""} | changed


def written(folder, *students):
    grades.write(folder, [Line(student, {"dots.ipynb": result()}) for student in students])
    return folder.path / "grades.csv"


def test_a_correction_survives_regrading_with_who_and_when(folder):
    """Catches an instructor's decision lost by the next run, or one of which nobody knows whose it was."""
    table = written(folder, "ann", "bob")
    table.write_text(table.read_text().replace("bob,2,2,,,2,0,3,,,,", "bob,2,2,,,2,0,3,,-1.5,,"))
    lines = written(folder, "ann", "bob").read_text().splitlines()
    corrected = lines[2].split(",")
    assert corrected[5] == "0.5" and corrected[9] == "-1.5"
    assert corrected[10] and corrected[11].startswith("20")
    assert written(folder, "ann", "bob").read_text().splitlines() == lines


def test_a_correction_that_was_changed_is_not_left_under_the_old_name(folder, monkeypatch):
    """Catches a decision that stands under the name and the minute of somebody else's."""
    monkeypatch.setattr("checker.grading.table.grades.getpass.getuser", lambda: "first")
    table = written(folder, "bob")
    table.write_text(table.read_text().replace("bob,2,2,,,2,0,3,,,,", "bob,2,2,,,2,0,3,,-1.5,,"))
    assert "-1.5,first," in written(folder, "bob").read_text()
    monkeypatch.setattr("checker.grading.table.grades.getpass.getuser", lambda: "second")
    table.write_text(table.read_text().replace("-1.5,first", "-0.5,first"))
    assert "-0.5,second," in written(folder, "bob").read_text()
    table.write_text(re.sub("-0.5,second,[^,\n]*", "-1,eve,today", table.read_text()))
    assert "-1,eve,today" in written(folder, "bob").read_text(), "as somebody wrote it"


def test_a_correction_survives_a_run_over_another_part_of_the_class(folder):
    """Catches a decision lost when the late notebooks, handed in as a zip of their own, are graded into the folder."""
    table = written(folder, "ann", "bob")
    table.write_text(table.read_text().replace("bob,2,2,,,2,0,3,,,,", "bob,2,2,,,2,0,3,,-1.5,,"))
    assert "Nothing of this student was in the last run.,-1.5" in written(folder, "ann").read_text()
    assert written(folder, "ann", "bob").read_text().splitlines()[2].split(",")[9] == "-1.5"


def test_a_table_that_cannot_be_read_is_not_written_over(folder):
    """Catches corrections lost because a spreadsheet saved the table in another form."""
    written(folder, "ann").write_text("<html>a spreadsheet</html>")
    with pytest.raises(Unreadable, match="Move it away"):
        written(folder, "ann")


def test_a_correction_without_a_student_is_kept_as_it_is(folder):
    """Catches a traceback, or a student made up, for a line that was moved or begun in a spreadsheet."""
    written(folder, "ann").write_text("correction,student\n2,ann\n-1\n")
    assert {student: points for student, (points, _, _) in grades.corrections(folder).items()} == {"ann": "2", "": "-1"}


def test_names_of_exercises_may_have_semicolons(folder):
    """Catches our own table taken for one with semicolons, and its corrections lost."""
    items = [result()["items"][0] | {"name": f"a{';' * 11}b"}]
    lines = [Line("ann", {"dots.ipynb": result(items=items)})]
    grades.write(folder, lines)
    table = folder.path / "grades.csv"
    assert table.read_text().splitlines()[0].count(",") == 11
    table.write_text(table.read_text().replace("0,3,,,,", "0,3,,1,,"))
    assert grades.write(folder, lines)["ann"][0] == "1"


def test_who_was_not_in_the_last_run_has_no_late_days(folder):
    """Catches a class with late days that cannot be graded once a corrected student hands in nothing more."""
    table = written(folder, "ann", "bob")
    table.write_text(table.read_text().replace("bob,2,2,,,2,0,3,,,,", "bob,2,2,,,2,0,3,,-1.5,,"))
    late = Lateness(LateRule(0, 0.5), 2, 0)
    grades.write(folder, [Line("ann", {"dots.ipynb": result()}, lateness=late)])
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig"))))
    assert [(row["student"], row["days late"], row["late"]) for row in rows] == [("ann", "2", "-1"), ("bob", "", "")]


def test_a_correction_in_words_is_refused(folder):
    """Catches a total without the correction because it was no number."""
    table = written(folder, "ann")
    table.write_text(table.read_text().replace("0,3,,,,", "0,3,,two more,,"))
    with pytest.raises(Unreadable, match="'two more', which is no number"):
        written(folder, "ann")


def test_semicolons_and_decimal_commas_are_understood(folder):
    """Catches the spreadsheets of half of Europe."""
    table = written(folder, "ann")
    table.write_text(table.read_text().replace(",", ";").replace("0;3;;;;", "0;3;;1,5;;"), encoding="utf-8-sig")
    assert written(folder, "ann").read_text().splitlines()[1].startswith("ann,2,2,,,3.5,")


def test_a_spreadsheet_sees_that_the_table_is_utf_8(folder):
    """Catches "JÃ¶rg" in Excel, and a table with its mark that is not read back, so that corrections are lost."""
    table = written(folder, "Jörg")
    assert table.read_bytes().startswith(b"\xef\xbb\xbfstudent,")
    table.write_bytes(table.read_bytes().replace(b"0,3,,,,", b"0,3,,1,,"))
    assert "Jörg,2,2,,,3,0,3,,1," in written(folder, "Jörg").read_text()


def test_a_name_that_a_spreadsheet_takes_for_a_formula_is_text(folder):
    """Catches `=cmd()` as a student's name, and its correction lost on the way back."""
    table = written(folder, "=cmd()")
    assert "'=cmd()" in table.read_text()
    table.write_text(table.read_text().replace("0,3,,,,", "0,3,,1,,"))
    assert ",3,0,3,,1," in written(folder, "=cmd()").read_text()


def test_only_the_owner_opens_a_class(folder):
    """Catches grades that everybody on a shared machine may read, and ones that git takes along."""
    table = written(folder, "ann")
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    assert (folder.path / ".gitignore").read_text() == "*\n"


WRITTEN = [  # names that the instructors' page and the README use for what belongs to a class
    "graded/grades.csv",
    "graded-2027/pages/ann/dots.html",
    "class.csv",
    "roster.csv",
    "submissions.zip",
    "submissions/ann/dots.ipynb",
    "ann dots.grades.json",
    "forms/ann dots.grades (1).json",
    "grades.csv",
    "course-student/README.md",
    "autograder.zip",
    "results.json",
    "ca.pem",
    "me.key",
]
OURS = [
    "checker/grading/table/grades.py",
    "benchmarks/grading.md",
    "tests/checker/grading/table/test_grades.py",
    "checker/points/forms.py",
]


def test_git_takes_nothing_of_a_class_along(tmp_path):
    """Catches a roster, a zip of submissions or a table of grades that `git add .` puts into a public course."""
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    asked = "\n".join([*WRITTEN, *OURS])
    done = subprocess.run(
        ["git", "-C", tmp_path, "check-ignore", "--stdin"], input=asked, capture_output=True, text=True
    )
    assert [line.strip('"') for line in done.stdout.splitlines()] == WRITTEN


def test_forgetting_deletes_a_class_and_nothing_else(folder, tmp_path):
    """Catches `checker forget ~`."""
    written(folder, "ann")
    with pytest.raises(Unreadable, match="Nothing was deleted"):
        forget(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(folder.path)
    with pytest.raises(Unreadable, match="Nothing was deleted"):
        forget(link)
    assert forget(folder.path) > 2
    assert not folder.path.exists()


def test_a_folder_that_holds_something_else_is_not_taken(tmp_path):
    """Catches grades written among a person's own files, which `forget` would then delete."""
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(Unreadable, match="holds something else"):
        Folder(tmp_path).prepare()


def test_names_of_files_stay_apart_and_inside():
    """Catches two students whose pages overwrite each other, and a page outside of the folder."""
    names = [file_name(text) for text in ("a/b", "a_b", "../x", "é", "e", "x" * 200, "ann", "Ann", "ANN")]
    assert len({name.lower() for name in names}) == len(names)
    assert not any("/" in name or name.startswith(".") for name in names)


def form(folder, name, student="ann", score=4, saved=None, notebook="dots.ipynb"):
    path = folder / name
    content = {"student": student, "notebook": notebook, "scores": {"Evaluation": score, "B": None}, "comment": ""}
    path.write_text(json.dumps(content | ({"saved": saved} if saved else {})))
    return path


def test_without_a_time_in_the_form_the_files_own_counts(tmp_path):
    """Catches forms that were saved before they held the time."""
    os.utime(form(tmp_path, "a.grades.json", score=2), (2000, 2000))
    os.utime(form(tmp_path, "b.grades.json", score=3), (1000, 1000))
    assert [one.total for one in read_forms(tmp_path)[0]] == [2]


@pytest.mark.parametrize("text", ["", "[]", '{"scores": {"A": "many"}}', '{"scores": {"A": NaN}}', "[" * 100_000])
def test_a_damaged_form_is_named_and_the_others_count(text, tmp_path):
    """Catches one half-saved file that costs the whole class its grades."""
    form(tmp_path, "ann.grades.json")
    (tmp_path / "bob.grades.json").write_text(text)
    forms, _, damaged = read_forms(tmp_path)
    assert len(forms) == 1 and "bob.grades.json" in damaged[0]


def test_points_of_forms_go_to_their_students(tmp_path):
    """Catches a form of someone who is not in the class added to somebody."""
    form(tmp_path, "ann.grades.json")
    form(tmp_path, "eve.grades.json", student="eve")
    line = Line("ann", {"dots.ipynb": {"items": []}})
    strangers = add_forms([line], read_forms(tmp_path)[0])
    assert line.rubric == {"dots.ipynb": 4}
    assert [one.student for one in strangers] == ["eve"]


def exercise(name, section, points, earned=None, field=""):
    verdict = "graded by the instructor" if earned is None else "right."
    about = {"key": name, "name": name, "wanted": name, "field": field or f"Question: {name}"}
    return about | {"section": section, "points": points, "earned": earned, "verdict": verdict}


STEP, ANALYSIS = "Cell 5: One GRPO step", "Cell 8: Analysis"
ITEMS = [
    exercise("kl", STEP, 2.0, 2.0),
    exercise("loss", STEP, 5.0, 2.5),
    exercise("proposal", STEP, 2.0, field="Exercise: proposal"),
    exercise("Success", ANALYSIS, 3.0),
    exercise("Next", ANALYSIS, 1.0),
]
FILLED = {"Exercise: proposal": 1.5, "Question: Success": 3.0, "Question: Next": None, "Evaluation": 4.0}


def graded(scores=FILLED):
    """A line with five exercises, of which checks earn two and a form two more."""
    line = Line("ann", {"dots.ipynb": result(items=ITEMS, earned=4.5, possible=7.0)})
    add_forms([line], [Form("ann", "dots.ipynb", scores, "", 0.0, Path("ann.grades.json"))])
    return line


def test_points_are_summed_by_section_and_in_all(folder):
    """Catches points that somebody has to add up by hand, and a sum that leaves out what a person gave."""
    text = grades.table([graded()], {})
    (line,) = csv.DictReader(io.StringIO(text))
    assert [line[name] for name in ("kl", "loss", "proposal", "Cell 5 (sum)")] == ["2", "2.5", "1.5", "6"]
    assert [line[name] for name in ("Success", "Next", "Cell 8 (sum)")] == ["3", "", "3"]
    assert [line[name] for name in ("checks", "by hand", "rubric", "total")] == ["4.5", "4.5", "4", "13"]
    assert text.startswith(
        "student,kl,loss,proposal,Cell 5 (sum),Success,Next,Cell 8 (sum),checks,by hand,rubric,total"
    )


def test_the_columns_are_called_as_a_person_looks_for_them():
    """Catches headings that a spreadsheet's formulas, and the next run, do not find."""
    line = graded()
    line.results["dots.ipynb"]["items"] = [
        exercise("kl", "Cell 5: One step: KL", 2.0, 2.0) | {"finding": True},
        exercise("plan", "Plan", 1.0, 1.0),
    ]
    text = grades.table([line], {"ann": ("-1", "eve", "today")})
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["Cell 5 (sum)"], row["Plan (sum)"], row["findings"]) == ("2", "1", "1")
    assert (row["correction"], row["corrected by"], row["corrected at"]) == ("-1", "eve", "today")


def test_what_is_missing_or_was_not_graded_is_said_in_its_line():
    """Catches a sum for a notebook that no box ran, and exercises that were removed and of which nobody is told."""
    gone = [exercise(name, STEP, 2.0, 0.0) | {"missing": True} for name in ("kl", "loss")]
    lines = [
        Line("ann", {"dots.ipynb": result(items=gone, ungraded="")}),
        Line("bob", {"dots.ipynb": result(items=gone, ungraded="a box failed")}),
    ]
    ann, bob = csv.DictReader(io.StringIO(grades.table(lines, {})))
    assert ann["remarks"] == "dots.ipynb: missing: kl, loss." and ann["total"] == "2"
    assert bob["remarks"] == "dots.ipynb: not graded: a box failed"
    assert {bob[name] for name in ("kl", "loss", "Cell 5 (sum)", "checks", "total")} == {"not graded"}


def test_with_several_notebooks_each_has_its_sum():
    """Catches a class of two notebooks whose table says what both come to, and of neither what it does."""
    line = graded()
    line.results["poker.ipynb"] = result(notebook="poker.ipynb", items=[exercise("reward", "Cell 4: Reward", 3.0, 1.0)])
    (row,) = csv.DictReader(io.StringIO(grades.table([line], {})))
    assert (row["dots: sum"], row["poker: sum"]) == ("9", "1")
    assert (row["dots: Cell 8 (sum)"], row["poker: Cell 4 (sum)"]) == ("3", "1")
    assert list(row).index("poker: sum") < list(row).index("checks")


def test_table_feedback_and_gradescope_say_the_same_sums():
    """Catches three programs that add up in three ways."""
    line = graded()
    page = feedback(line, "ann", "-1.5")
    for said in ("6 of 9 points", "3 of 4 points, 1 of them still to be given", "9 of 13 points, 1 of them still"):
        assert said in page
    assert "11.5 points in all: 4.5 by checks, 4.5 by hand, 4 by the rubric, -1.5 by correction." in page
    told = json.loads(results([line.results["dots.ipynb"]]))["output"]
    assert f"{STEP}: 4.5 of 9 points, 2 of them still to be given" in told
    assert f"{ANALYSIS}: 0 of 4 points, 4 of them still to be given" in told
    assert "dots.ipynb: 4.5 of 13 points, 6 of them still to be given" in told


def test_an_exercise_without_a_check_is_given_by_hand_and_stands_in_feedback():
    """Catches an exercise that is worth points which nobody has a way to give."""
    page = feedback(graded(), "ann")
    row = page.split("<code>proposal</code>")[1].split("</tr>")[0]
    assert "1.5 of 2" in row and "given by the instructor" in row
    row = page.split("<code>Next</code>")[1].split("</tr>")[0]
    assert "of 1<" in row and "not given yet: graded by the instructor" in row


def test_a_question_that_the_key_does_not_have_is_told(folder):
    """Catches points of a form of an older edition that vanish in silence, and any number of points for no question."""
    line = graded({"Question: Of last year": 2.0, "Evaluation": 4.0})
    assert (line.by_hand, line.rubric) == (0, {"dots.ipynb": 4.0})
    (said,) = refused(ITEMS, line.forms["dots.ipynb"])
    assert "'Question: Of last year' is no field of a form" in said


def test_forms_of_an_earlier_run_still_count(tmp_path):
    """Catches rubric points that are gone from the table as soon as one run comes without the folder of forms."""
    folder = Folder(tmp_path / "graded")
    folder.prepare()
    assert folder.forms() == []
    first = Form("ann", "dots.ipynb", {"Task": 3.0, "Code": None}, "gut, Müller", 100.0, tmp_path)
    folder.keep_forms([first, replace(first, student="bob")])
    folder.keep_forms([replace(first, scores={"Task": 4.0}, saved=200.0), replace(first, student="bob", saved=50.0)])
    kept = {form.student: form for form in Folder(tmp_path / "graded").forms()}
    assert kept["ann"].scores == {"Task": 4.0} and kept["ann"].saved == 200.0
    assert kept["bob"].total == 3 and kept["bob"].comment == "gut, Müller"
    assert all(path.stat().st_mode & 0o077 == 0 for path in (folder.path / "forms").rglob("*.json"))
