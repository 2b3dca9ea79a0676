"""Whose a notebook is: the layouts of the platforms, the roster, a pattern, and never a guess.

The layouts are written after what the platforms' own documents say of their exports; no export of a real class was
at hand.
"""

import json
import zipfile
from datetime import datetime

import pytest

from checker.grading.collecting import BadPattern, collect
from checker.grading.layouts import METADATA, metadata
from checker.grading.roster import read_roster
from checker.notebook import Unreadable

ROSTER = (
    "id,name,canvas,email\njd1,Jane Doe,1001,jane@example.org\njr2,José Ruiz,1002,jose@example.org\nax3,Ann Xu,1003,\n"
)


@pytest.fixture
def roster(tmp_path):
    path = tmp_path / "class.csv"
    path.write_text(ROSTER, encoding="utf-8")
    return read_roster(path)


@pytest.fixture
def export(tmp_path, good):
    """A zip of notebooks at the given places."""

    def make(*places, **others):
        path = tmp_path / "export.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for place in places:
                archive.writestr(place, json.dumps(good))
            for place, text in others.items():
                archive.writestr(place, text)
        return path

    return make


@pytest.fixture
def taken(tmp_path):
    def take(path, *arguments, **options):
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        return collect([path], scratch, *arguments, **options)

    return take


def who(found):
    return sorted((handed.student, handed.name, handed.late) for handed in found.handed)


def test_canvas(export, taken, roster):
    """Catches Canvas' own words in a file's name taken for the student's, and its mark of lateness overlooked."""
    found = taken(export("doejane_1001_77_dots.ipynb", "ruizjose_LATE_1002_78_dots.ipynb"), roster)
    assert who(found) == [("jd1", "dots.ipynb", False), ("jr2", "dots.ipynb", True)]


def test_moodle(export, taken, roster):
    """Catches one student's notebook that overwrites another's because both files are called dots.ipynb."""
    found = taken(
        export("Jane Doe_5_assignsubmission_file_/dots.ipynb", "José Ruiz_6_assignsubmission_file_/dots.ipynb"), roster
    )
    assert who(found) == [("jd1", "dots.ipynb", False), ("jr2", "dots.ipynb", False)]
    assert len({handed.file for handed in found.handed}) == 2


def test_gradescope(tmp_path, good, taken, roster):
    """Catches folders named by number only, whose students stand in the metadata beside them."""
    root = tmp_path / "assignment_9_export"
    for number in (1, 2):
        folder = root / f"submission_{number}"
        folder.mkdir(parents=True)
        (folder / "dots.ipynb").write_text(json.dumps(good))
    (root / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :name: Jane Doe\n    :sid: jd1\n"
        "  :created_at: 2026-03-01 10:00:00.000000000 Z\n"
        "submission_2:\n  :submitters:\n  - :name: Ann Xu\n    :email: nobody@example.org\n"
        "  :created_at: 2026-03-03 10:00:00.000000000 Z\n"
    )
    found = taken(root, roster, due=datetime.fromisoformat("2026-03-02T00:00:00+00:00"))
    assert who(found) == [("ax3", "dots.ipynb", True), ("jd1", "dots.ipynb", False)]


def test_a_students_own_names_make_nobody_else(tmp_path, export, taken, roster):
    """Catches a student who hands in as another, by a file called as Canvas calls Jane's, or by metadata of their own."""
    found = taken(
        export("jr2/doejane_1001_77_dots.ipynb", "José Ruiz_6_assignsubmission_file_/doejane_1001_78_kl.ipynb"), roster
    )
    assert {student for student, _, _ in who(found)} == {"jr2"}
    root = tmp_path / "of_gradescope"
    for name in ("submission_1", "submission_2"):
        (root / name).mkdir(parents=True)
    (root / METADATA).write_text("submission_1:\n  :submitters:\n  - :sid: jd1\n")
    (root / "submission_2" / METADATA).write_text("submission_1:\n  :submitters:\n  - :sid: jr2\n")
    assert metadata([root])["submission_1"][":submitters"][0][":sid"] == "jd1"


def test_an_export_in_a_folder_called_submissions_is_not_one_student(export, taken, roster):
    """Catches a whole class graded as the student "submissions", one notebook of all that are called dots."""
    found = taken(export("submissions/jd1/dots.ipynb", "submissions/jr2/dots.ipynb"), roster)
    assert [student for student, _, _ in who(found)] == ["jd1", "jr2"]


def test_a_date_in_a_name_is_no_canvas(export, taken, roster):
    found = taken(export("jd1/dots_2026_11_22.ipynb"), roster)
    assert who(found) == [("jd1", "dots_2026_11_22.ipynb", False)]


def test_a_platforms_zip_without_a_roster_keeps_two_of_one_name_apart(export, taken):
    """Catches two people called Jane Doe graded as one."""
    found = taken(export("doejane_1_77_dots.ipynb", "doejane_2_78_dots.ipynb"))
    assert [student for student, _, _ in who(found)] == ["doejane 1", "doejane 2"]


def test_the_later_of_two_uploads_is_graded(export, taken, roster):
    """Catches a notebook that was handed in again graded twice, or the older one graded."""
    found = taken(export("doejane_1001_77_dots.ipynb", "doejane_1001_99_dots-1.ipynb"), roster)
    assert [handed.place.endswith("dots-1.ipynb") for handed in found.handed] == [True]
    assert "jd1 handed it in again" in found.aside[0].reason


def test_two_of_which_neither_is_known_to_be_later_are_not_chosen_between(export, taken, roster):
    """Catches a silent choice between two versions."""
    found = taken(export("Jane Doe/dots.ipynb", **{"Jane Doe/old/dots.ipynb": "{}"}), roster)
    assert found.handed == []
    assert len(found.aside) == 2
    assert "which is the later one is not known" in found.aside[0].reason


def test_two_that_are_the_same_are_one(export, taken, roster):
    """Catches a student who gets no points for the same file in two folders."""
    found = taken(export("Jane Doe/dots.ipynb", "Jane Doe/old/dots.ipynb"), roster)
    assert who(found) == [("jd1", "dots.ipynb", False)]


def test_a_flat_file_is_never_guessed(export, taken):
    """Catches `final.ipynb` graded as the work of a student called final."""
    found = taken(export("final.ipynb"))
    assert found.handed == []
    assert "--pattern" in found.aside[0].reason


def test_a_flat_file_is_known_by_the_roster(export, taken, roster):
    """Catches a roster that is of no use where files carry the students' ids."""
    assert who(taken(export("dots_jd1.ipynb"), roster)) == [("jd1", "dots_jd1.ipynb", False)]


def test_a_name_that_two_students_bear_is_asked_about(export, taken, tmp_path):
    """Catches the first of two students of one name graded for both."""
    path = tmp_path / "two.csv"
    path.write_text("id,name\na,Jane Doe\nb,Jane Doe\n")
    found = taken(export("Jane Doe/dots.ipynb"), read_roster(path))
    assert "may be a or b" in found.aside[0].reason


def test_who_is_not_on_the_roster_is_listed(export, taken, roster):
    """Catches a stranger's notebook graded into the class, or dropped without a word."""
    found = taken(export("Bob/dots.ipynb"), roster)
    assert "'Bob' is not on the roster" in found.aside[0].reason


def test_a_pattern_says_who(export, taken, roster):
    """Catches a pattern that is tried on the file's name alone."""
    found = taken(export("week3/by-jd1/dots.ipynb"), roster, pattern=r"by-(?P<student>\w+)/")
    assert who(found) == [("jd1", "dots.ipynb", False)]


@pytest.mark.parametrize("pattern", ["(", "jd1"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern, export, taken):
    """Catches a traceback from the middle of a run."""
    with pytest.raises(BadPattern):
        taken(export("a/dots.ipynb"), pattern=pattern)


def test_a_list_with_semicolons_and_two_columns_of_names_is_understood(tmp_path):
    """Catches a spreadsheet's own CSV called one without headings, and a first name that finds nobody by itself."""
    path = tmp_path / "class.csv"
    path.write_text("id;First name;Last name\njm1;Jürgen;Müller\nam2;Anna;Müller\n", encoding="utf-8")
    found = read_roster(path)
    assert found.find("Anna Müller") == {"am2"} and found.find("mullerjurgen") == {"jm1"}
    assert found.find("Müller") == {"jm1", "am2"}


@pytest.mark.parametrize("text", ["jd1,Jane\n", "id,name\na,x\na,y\n", ""])
def test_a_roster_that_is_none_is_refused(text, tmp_path):
    """Catches a class whose first student is taken for the headings, and an id for two people."""
    path = tmp_path / "class.csv"
    path.write_text(text)
    with pytest.raises(Unreadable):
        read_roster(path)
