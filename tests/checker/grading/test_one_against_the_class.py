"""One student against the class: what somebody hands in costs nobody else anything."""

import json
import shutil
import struct
import threading
import zipfile

import pytest

from checker.grading.collect import apart
from checker.grading.work import collected
from checker.points.forms import Form
from checker.reading.notebook import Unreadable
from tests.checker.grading.test_classes import Grader, notebook, run, table
from tests.checker.grading.test_classes import submissions as submissions
from tests.checker.grading.test_classes import this_class as this_class
from tests.checker.grading.test_classes import worked as worked


@pytest.fixture
def little_room(monkeypatch):
    """A process that reads has little memory."""
    monkeypatch.setattr(apart, "MEGABYTES", 500)
    monkeypatch.setattr(apart, "_of_this_thread", threading.local())


def test_a_notebook_that_fills_the_memory_is_one_students_finding(
    this_class, folder, submissions, tmp_path, little_room
):
    """Catches a file of some megabytes that becomes a gigabyte when it is read, and takes the whole run along."""
    submissions("ann")
    (submissions("bob") / "bob" / "maths.ipynb").write_text(
        json.dumps(notebook("x = 1")).replace('"metadata": {}', '"metadata": {"x": [' + "[]," * 8_000_000 + "[]]}", 1)
    )
    graded = Grader()
    run(this_class, folder, submissions("cy"), tmp_path, graded)
    assert sorted(graded.graded) == ["ann", "cy"]
    assert "maths.ipynb was not graded: Reading it takes more than 60 s or" in table(folder)["bob"]["remarks"]
    assert table(folder)["bob"]["total"] == "" and table(folder)["ann"]["total"] == "2"


def packed(submissions, tmp_path, **others):
    """A zip of all that was handed in, with further files."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(submissions.rglob("*.ipynb")):
            archive.write(file, file.relative_to(submissions))
        for place, content in others.items():
            archive.writestr(place, content)
    return path


def test_one_file_does_not_empty_the_class(this_class, folder, submissions, tmp_path):
    """Catches a zip that is refused for one member of it, and a class in which nobody handed in anything."""
    submissions("ann"), submissions("cy")
    path = packed(tmp_path / "submissions", tmp_path, **{"bob/notes.ipynb": b" " * 1_234_567})
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 1_234_567), struct.pack("<I", 2_100_000_000)))
    graded = Grader()
    run(this_class, folder, path, tmp_path, graded)
    assert sorted(graded.graded) == ["ann", "cy"]
    assert table(folder)["bob"]["remarks"] == (
        "notes.ipynb was not graded: It unpacks to 2,100 MB, too much for a notebook."
    )


@pytest.mark.parametrize("kind", ["a damaged zip", "an empty folder", "a folder of strangers"])
def test_grades_are_not_written_anew_from_what_could_not_be_collected(kind, this_class, folder, submissions, tmp_path):
    """Catches a class that loses its points to a download that broke off, or to the wrong folder."""
    submissions("ann")
    run(this_class, folder, submissions("bob"), tmp_path, Grader())
    before = (folder.path / "grades.csv").read_bytes()
    wrong = tmp_path / "wrong"
    if kind == "a damaged zip":
        wrong = packed(tmp_path / "submissions", tmp_path)
        wrong.write_bytes(wrong.read_bytes()[:-40])
    elif kind == "an empty folder":
        wrong.mkdir()
    else:
        wrong = submissions("mallory").rename(wrong)
        for student in ("ann", "bob"):
            (wrong / student / "maths.ipynb").unlink()
    with pytest.raises(Unreadable, match="stay as they are|nothing of an earlier run was changed"):
        run(this_class, folder, wrong, tmp_path, Grader())
    assert (folder.path / "grades.csv").read_bytes() == before


def test_of_two_exports_one_that_is_damaged_stops_the_run(this_class, submissions, tmp_path):
    """Catches half of a class that is told that it handed in nothing, since the other download is whole."""
    submissions("ann")
    broken = packed(submissions("bob"), tmp_path)
    broken.write_bytes(broken.read_bytes()[:-40])
    with pytest.raises(Unreadable, match="export.zip: The zip cannot be read .* nothing of an earlier run was changed"):
        collected([tmp_path / "submissions", broken], this_class)


def test_nobody_is_absent_while_something_lies_there_that_may_be_theirs(this_class, folder, submissions, tmp_path):
    """Catches 0 points and "No notebook was handed in" for a student whose folder the roster does not know."""
    submissions("ann")
    run(this_class, folder, submissions("bobby"), tmp_path, Grader())
    assert "it is not known whose it is" in table(folder)["bob"]["remarks"] and table(folder)["bob"]["total"] == ""
    shutil.rmtree(tmp_path / "submissions" / "bobby")
    run(this_class, folder, submissions("ann"), tmp_path, Grader())
    assert table(folder)["bob"]["remarks"] == "No notebook was handed in." and table(folder)["bob"]["total"] == "0"


def test_a_forged_form_gives_nothing(this_class, folder, submissions, tmp_path):
    """Catches points for a notebook that nobody handed in, or under a name of one's own, from a form that got in."""
    forged = [
        Form("ann", "maths.ipynb", {"bonus": 1000.0, "Evaluation": 6.0}, "", 0.0, tmp_path / "a"),
        Form("ann", "more.ipynb", {"Evaluation": 5.0}, "", 0.0, tmp_path / "b"),
    ]
    _, said = run(this_class, folder, submissions("ann"), tmp_path, Grader(), forged)
    assert table(folder)["ann"]["total"] == "2"
    assert len(said) == 3 and "no more.ipynb of ann was graded" in said[-1]


def test_the_secret_of_the_class_stands_in_no_page_that_goes_to_students(this_class, folder, submissions, tmp_path):
    """Catches a student who reads, in the feedback or in a table, how a form is marked that counts."""
    run(this_class, folder, submissions("ann"), tmp_path, Grader())
    holding = [path for path in folder.path.rglob("*") if path.is_file() and folder.secret() in path.read_text("utf-8")]
    assert {path.relative_to(folder.path).parts[0] for path in holding} <= {"secret", "pages", "questions"}
    assert folder.path / "pages" / "index.html" in holding


def test_a_folder_of_an_earlier_version_is_taken_over_once(this_class, folder, submissions, tmp_path):
    """Catches forms that were saved before there were secrets, and are lost; and a way around the secret for ever."""
    run(this_class, folder, submissions("ann"), tmp_path, Grader())
    (folder.path / "secret").unlink()
    assert folder.of_an_earlier_version
    run(this_class, folder, submissions("ann"), tmp_path, Grader())
    assert not folder.of_an_earlier_version
