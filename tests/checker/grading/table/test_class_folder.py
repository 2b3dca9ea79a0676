"""The folder of a class: what a run leaves for the next one. That nobody else opens it: `test_grades.py`."""

import json
from datetime import datetime
from pathlib import Path

from checker.grading.judge.one_notebook import FORMAT
from checker.grading.table.class_folder import Folder, file_name
from checker.grading.table.rules import rules_of
from checker.points.forms import Form


def test_a_class_keeps_the_seed_of_its_hidden_cases(folder):
    """Catches a second run that judges the class by other cases than the first, so that equal answers differ."""
    drawn = rules_of(folder).seed
    assert rules_of(Folder(folder.path)).seed == drawn
    other = Folder(folder.path.parent / "other")
    other.prepare()
    assert rules_of(other).seed != drawn, "in one of two billion cases this fails by chance"


def test_what_could_not_be_graded_is_no_earlier_result(folder):
    """Catches a student whose box failed once, and who is left without points when one check is judged anew."""
    for name, ungraded in (("ann", ""), ("bob", "a box failed")):
        folder.keep(name, {"format": FORMAT, "upload": name, "ungraded": ungraded})
    folder.keep("old", {"format": FORMAT - 1, "upload": "old", "ungraded": ""})
    assert list(folder.earlier()) == ["ann"]


def test_when_a_form_was_saved_is_the_same_moment_in_another_country(folder):
    """Catches forms of a folder that was copied to another machine, of which an older one counts by its clock."""
    folder.keep_forms([Form("ann", "dots.ipynb", {"Task": 3.0}, "", 1e9, Path("x"))])
    (path,) = folder.path.glob("forms/*/*.json")
    saved = datetime.fromisoformat(json.loads(path.read_text())["saved"])
    assert saved.utcoffset() is not None, "without a zone it is read as a time of the machine that reads it"
    assert [form.saved for form in folder.forms()] == [1e9]


def test_a_damaged_result_is_none(folder):
    """Catches a class that no run can finish, since the disk was full once."""
    folder.write("results/half.json", '{"format": ')
    folder.write("results/list.json", json.dumps([1]))
    assert [folder.result(name) for name in ("half", "list", "none")] == [None, None, None]


def test_a_file_is_found_by_a_students_name():
    """Catches names of files that nobody knows again in a folder of two hundred."""
    assert file_name("Jane O'Doe").startswith("Jane_O_Doe-") and file_name("ann-1.b") == "ann-1.b"
