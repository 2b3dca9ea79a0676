"""The owner of a notebook: the layouts of the platforms, the roster, a pattern, and never a guess.

The layouts are written after what the platforms' own documents say of their exports; no export of a real class was
at hand.
"""

import io
import json
import zipfile
from datetime import datetime
from pathlib import Path, PurePath

import pytest

from checker.grading.collect.platforms import CANVAS, METADATA, senders
from checker.grading.collect.roster import read_roster
from checker.grading.collect.uploads import Submission, collect, differ_by_number, unlike

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
    return sorted((submission.student, submission.name, submission.late) for submission in found.submissions)


def test_canvas(export, taken, roster):
    """Catches Canvas' own words in a file's name taken for the student's, and its mark of lateness overlooked."""
    found = taken(export("doejane_1001_77_dots.ipynb", "ruizjose_LATE_1002_78_dots.ipynb"), roster)
    assert who(found) == [("jd1", "dots.ipynb", False), ("jr2", "dots.ipynb", True)]


@pytest.mark.parametrize(
    "file", ["ruizjose_1001_77_dots.ipynb", "doejane_1002_78_dots.ipynb", "xuann_LATE_1001_7_dots.ipynb"]
)
def test_a_number_of_one_and_the_name_of_another_are_nobodys(file, export, taken, roster):
    """Catches Canvas' number believed against the name that stands beside it: one student graded for another."""
    found = taken(export(file), roster)
    assert found.submissions == []
    assert "may be" in found.ungraded[0].reason and "on the roster" in found.ungraded[0].reason


def test_what_a_mac_hides_in_a_zip_is_nobodys_submission(export, taken, roster):
    """Catches a student who is told that "._dots.ipynb" was not graded, which the Mac put there and nobody handed in."""
    found = taken(export("jd1/dots.ipynb", "jd1/._dots.ipynb"), roster)
    assert who(found) == [("jd1", "dots.ipynb", False)]
    assert [(one.reason, one.student, one.remark) for one in found.ungraded] == [("It is hidden.", "", "")]


def test_moodle(export, taken, roster):
    """Catches one student's notebook that overwrites another's because both files are called dots.ipynb."""
    found = taken(
        export("Jane Doe_5_assignsubmission_file_/dots.ipynb", "José Ruiz_6_assignsubmission_file_/dots.ipynb"), roster
    )
    assert who(found) == [("jd1", "dots.ipynb", False), ("jr2", "dots.ipynb", False)]
    assert len({submission.file for submission in found.submissions}) == 2


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


@pytest.mark.parametrize(
    "place",
    [
        "jr2/José Ruiz_5_assignsubmission_file_/x.ipynb",
        "jr2/Jane Doe_5_assignsubmission_file_/x.ipynb",
        "jr2/submission_1/x.ipynb",
        "jr2/doejane_1001_77_x/x.ipynb",
        "jr2/submissions/jd1/x.ipynb",
        "submissions/jr2/assignment_1_export/submission_1/x.ipynb",
        "jr2/jr2.zip:Jane Doe_5_assignsubmission_file_/x.ipynb",
        "ruizjose_1002_78_my_hw.zip:jd1/x.ipynb",
        "ruizjose_1002_78_Jane_1001_assignsubmission_file_.zip:x.ipynb",
    ],
)
def test_below_the_platforms_level_no_name_is_the_platforms(place, tmp_path, good, taken, roster):
    """Catches a student who hands in for Jane, by the name of a folder or of a zip that she hands in."""
    inner, _, packed = place.rpartition(":")
    content = json.dumps(good)
    if inner:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr(packed, content)
        content = held.getvalue()
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(inner or packed, content)
        archive.writestr(("ruizjose_1002_79" if "_78_" in place else "jr2/") + "_more.ipynb", json.dumps(good))
    assert {student for student, _, _ in who(taken(path, roster))} == {"jr2"}


def test_a_zip_on_canvas_is_its_students(tmp_path, export, taken, roster, good):
    """Catches "not on the roster", and no points, for who hands in a zip; and é in the name of a file that Finder packs."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        entry = zipfile.ZipInfo("hw/e\u0301te\u0301.ipynb")
        archive.writestr(entry, json.dumps(good))
    flagless = held.getvalue()
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = flagless.index(header) + flags
        flagless = flagless[:place] + b"\x00\x00" + flagless[place + 2 :]
    path = tmp_path / "canvas.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("doejane_LATE_1001_9002_my_hw.zip", flagless)
        archive.writestr("xuann_1003_9003_dots.ipynb", json.dumps(good))
    found = taken(path, roster)
    assert [(submission.student, submission.late, submission.upload) for submission in found.submissions] == [
        ("jd1", True, (9002, 0)),
        ("ax3", False, (9003, 0)),
    ]
    assert found.ungraded == [] and "e\u0301te\u0301.ipynb" in found.submissions[0].place


@pytest.mark.parametrize(
    ("file", "unknown"),
    [("who/dots.ipynb", True), ("who/dots.zip", True), ("jd1/dots.txt", False), ("._x.ipynb", False)],
)
def test_of_what_lies_there_it_is_known_whether_it_may_be_anybodys(file, unknown, export, taken, roster):
    """Catches students who are told that they handed in nothing, while a notebook lies there that nobody was found for."""
    assert [one.unknown for one in taken(export(file), roster).ungraded] == [unknown]


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


def test_one_name_in_two_spellings_of_unicode_is_one_student(export, taken):
    """Catches José split in two, because one of his notebooks came from a Mac, which writes é as two characters."""
    found = taken(export("Jos\u00e9/dots.ipynb", "Jose\u0301/kl.ipynb"))
    assert {student for student, _, _ in who(found)} == {"Jos\u00e9"}


def test_the_later_of_two_uploads_is_graded(export, taken, roster):
    """Catches a notebook that was handed in again graded twice, or the older one graded."""
    found = taken(export("doejane_1001_77_dots.ipynb", "doejane_1001_99_dots-1.ipynb"), roster)
    assert [submission.place.endswith("dots-1.ipynb") for submission in found.submissions] == [True]
    assert "jd1 handed it in again" in found.ungraded[0].reason
    assert found.ungraded[0].place.endswith("77_dots.ipynb")


def test_two_of_which_neither_is_known_to_be_later_are_not_chosen_between(export, taken, roster):
    """Catches a silent choice between two versions."""
    found = taken(export("Jane Doe/dots.ipynb", **{"Jane Doe/old/dots.ipynb": "{}"}), roster)
    assert found.submissions == []
    assert len(found.ungraded) == 2
    assert "which is the later one is not known" in found.ungraded[0].reason


def test_two_that_are_the_same_are_one(export, taken, roster):
    """Catches a student who gets no points for the same file in two folders."""
    found = taken(export("Jane Doe/dots.ipynb", "Jane Doe/old/dots.ipynb"), roster)
    assert who(found) == [("jd1", "dots.ipynb", False)]


def test_a_pattern_says_who(export, taken, roster):
    """Catches a pattern that is tried on the file's name alone."""
    found = taken(export("week3/by-jd1/dots.ipynb"), roster, pattern=r"by-(?P<student>\w+)/")
    assert who(found) == [("jd1", "dots.ipynb", False)]


TWO_JANES = "id,First name,Last name\njd1,Jane,Doe\njs2,Jane,Stone\nax3,Ann,Xu\n"


@pytest.fixture
def janes(tmp_path):
    path = tmp_path / "janes.csv"
    path.write_text(TWO_JANES)
    return read_roster(path)


@pytest.mark.parametrize(
    ("place", "may_be"),
    [
        ("jane/dots.ipynb", "jd1 or js2"),
        ("Ann/dots.ipynb", "ax3"),
        ("ann_smith_dots.ipynb", "ax3"),
        ("Stone/dots.ipynb", "js2"),
    ],
)
def test_a_part_of_a_name_is_nobody(place, may_be, export, taken, janes):
    """Catches Ann Smith, who is not on the list, graded as the only Ann who is, and one of two Janes chosen."""
    found = taken(export(place), janes)
    assert found.submissions == []
    assert f"a part of a name only: it may be {may_be} on the roster" in found.ungraded[0].reason


@pytest.mark.parametrize("place", ["jane_doe_dots.ipynb", "dots-Doe Jane.ipynb", "Jane Doe/dots.ipynb"])
def test_a_whole_name_is_known(place, export, taken, janes):
    """Catches a first and a last name that find nobody when they stand together."""
    assert [student for student, _, _ in who(taken(export(place), janes))] == ["jd1"]


def test_a_number_and_a_name_of_two_people_are_nobody(export, taken, tmp_path):
    """Catches a platform's own number taken for the id of somebody else: Moodle counts its participants."""
    path = tmp_path / "numbers.csv"
    path.write_text("id,name\n5,Ann Xu\n6,Jane Doe\n")
    found = taken(export("Jane Doe_5_assignsubmission_file_/dots.ipynb"), read_roster(path))
    assert found.submissions == [] and "may be 5 or 6 on the roster" in found.ungraded[0].reason


@pytest.mark.parametrize("place", ["dots (1).ipynb", "dots__1_.ipynb", "lab-1.ipynb"])
def test_a_number_that_counts_something_is_nobody(place, export, taken, tmp_path):
    """Catches a second download, or the first lab, graded as the work of number 1 on the list."""
    path = tmp_path / "numbers.csv"
    path.write_text("id,name\n1,Ann Xu\n2,Jane Doe\n")
    assert taken(export(place), read_roster(path)).submissions == []


def of_gradescope(tmp_path, good, people):
    root = tmp_path / "export"
    folder = root / "submission_1"
    folder.mkdir(parents=True)
    (folder / "dots.ipynb").write_text(json.dumps(good))
    (root / METADATA).write_text(f"submission_1:\n  :submitters:\n{people}")
    return root


def test_a_group_hands_in_for_each_of_its_members(tmp_path, good, taken, roster):
    """Catches a group's notebook that counts for its first member: "no notebook was handed in" for the others."""
    people = "  - :name: Jane Doe\n    :sid: jd1\n  - :name: Ann Xu\n    :email: x\n  - :name: Jane Doe\n"
    found = taken(of_gradescope(tmp_path, good, people), roster)
    assert who(found) == [("ax3", "dots.ipynb", False), ("jd1", "dots.ipynb", False)]
    assert found.ungraded == []


def test_a_member_whom_nobody_knows_is_listed_and_the_others_are_graded(tmp_path, good, taken, roster):
    """Catches a whole group set aside, or a stranger graded, for one who is not on the list."""
    found = taken(of_gradescope(tmp_path, good, "  - :name: Jane Doe\n  - :name: Zed Nobody\n"), roster)
    assert [student for student, _, _ in who(found)] == ["jd1"]
    assert "'Zed Nobody' is not on the roster" in found.ungraded[0].reason


@pytest.mark.parametrize("first", ["lab.ipynb", "lab-1.ipynb"])
def test_a_number_that_is_a_part_of_the_name_makes_no_version(first, export, taken, roster, good):
    """Catches the first lab set aside as the older version of the second one."""
    places = [f"doejane_1001_77_{first}", "doejane_1001_78_lab-2.ipynb"]
    other = json.dumps(good | {"metadata": {"course": {"version": "1", "exercises": {"cell-1/1": "other"}}}})
    found = taken(export(places[0], **{places[1]: other}), roster)
    assert [submission.name for submission in found.submissions] == [first, "lab-2.ipynb"] and found.ungraded == []


def test_what_canvas_numbers_is_in_the_order_of_its_numbers():
    """Catches two of one upload between which nobody can choose: the number behind the name says which came later."""
    names = ("dots.ipynb", "dots-2.ipynb", "dots-10.ipynb")
    uploads = [senders(PurePath(f"doejane_1001_567_{name}"), {}, CANVAS)[0].upload for name in names]
    assert uploads == [(567, 0), (567, 2), (567, 10)]


def of_two_students(tmp_path, good):
    """Gradescope's export: Jane's submission came in time, Ann's a day and a minute late."""
    root = tmp_path / "two"
    for number in (1, 2):
        (root / f"submission_{number}").mkdir(parents=True)
        (root / f"submission_{number}" / "dots.ipynb").write_text(json.dumps(good))
    (root / METADATA).write_text(
        "submission_1:\n  :submitters:\n  - :sid: jd1\n  :created_at: 2026-03-01 10:00:00 Z\n"
        "submission_2:\n  :submitters:\n  - :sid: ax3\n  :created_at: 2026-03-03 00:01:00 Z\n"
    )
    return root


def test_the_days_are_those_of_gradescope(tmp_path, good, taken, roster):
    """Catches a student who is late and pays nothing, since the days are not kept."""
    found = taken(of_two_students(tmp_path, good), roster, due=datetime.fromisoformat("2026-03-02T00:00:00+00:00"))
    assert {submission.student: (submission.late, submission.days_late) for submission in found.submissions} == {
        "jd1": (False, 0),
        "ax3": (True, 2),
    }


def test_without_a_due_date_nobody_is_late(tmp_path, good, taken, roster):
    """Catches days that are counted from a date that nobody gave."""
    found = taken(of_two_students(tmp_path, good), roster)
    assert [(one.late, one.days_late) for one in found.submissions] == [(False, None), (False, None)]


@pytest.mark.parametrize("root", ["", "assignment_9_export/"])
def test_gradescopes_own_file_is_not_among_those_that_were_not_graded(root, export, taken, roster):
    """Catches a list of what was not graded that begins with a file of the platform's, in a folder of the zip or not."""
    others = {f"{root}{METADATA}": "submission_1:\n  :submitters:\n  - :sid: jd1\n"}
    found = taken(export(f"{root}submission_1/dots.ipynb", **others), roster)
    assert who(found) == [("jd1", "dots.ipynb", False)] and found.ungraded == []


def remarks(found):
    """The words to students on files that were not graded."""
    return {one.student: one.remark for one in found.ungraded}


@pytest.mark.parametrize("name", ["dots.ipynb.json", "DOTS.IPYNB.pdf"])
def test_a_notebook_under_a_wrong_name_is_told_beside_one_that_is_graded(name, export, taken, roster):
    """Catches a second notebook of which nobody hears, since the student has another one."""
    found = taken(export("jd1/poker.ipynb", **{f"jd1/{name}": "{}", "jd1/notes.txt": "x"}), roster)
    assert [submission.name for submission in found.submissions] == ["poker.ipynb"]
    told = {PurePath(one.place.rpartition(":")[2]).name: (one.student, one.remark) for one in found.ungraded}
    assert told["notes.txt"] == ("", "")
    assert told[name][0] == "jd1" and told[name][1].startswith(f"{name} was not graded: ")


def test_who_handed_in_only_what_is_no_notebook_is_told(export, taken, roster):
    """Catches a student who is told that nothing was handed in, though a text was."""
    found = taken(export("ax3/dots.ipynb", **{"jd1/notes.txt": "x"}), roster)
    assert remarks(found)["jd1"].startswith("notes.txt was not graded: It is not a notebook")


def test_a_notebook_that_cannot_be_unpacked_is_told_with_the_reason(tmp_path, taken, roster):
    """Catches a traceback for one damaged file of a class, and one that is left out without a word."""
    path = tmp_path / "damaged.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("jd1/dots.ipynb", "the words of Jane")
        archive.writestr("ax3/notes.ipynb", "x")
    path.write_bytes(path.read_bytes().replace(b"the words of Jane", b"the words of Eve!"))
    found = taken(path, roster)
    (one,) = found.ungraded
    assert [submission.student for submission in found.submissions] == ["ax3"]
    assert one.student == "jd1" and one.remark == f"dots.ipynb was not graded: {one.reason}"
    assert one.place.endswith("jd1/dots.ipynb") and len(one.reason) > len("None")


def test_a_single_file_that_is_no_notebook_is_set_aside(tmp_path, taken, roster):
    """Catches a text that is graded as a notebook, or a traceback, where a file is given and no folder."""
    path = tmp_path / "jd1.txt"
    path.write_text("x")
    found = taken(path, roster)
    (one,) = found.ungraded
    assert found.submissions == [] and "not a notebook" in one.reason and one.student == "jd1"


def test_the_pattern_tells_whose_an_unread_file_is(export, taken, roster):
    """Catches a student who is not told of a file, since only the others' owners are looked for with the pattern."""
    found = taken(export(**{"week3/by-jd1/dots.ipynb.json": "{}"}), roster, pattern=r"by-(?P<student>\w+)/")
    assert remarks(found).keys() == {"jd1"}


def test_gradescopes_people_are_told_of_an_unread_file(tmp_path, good, taken, roster):
    """Catches a student who is not told of a file, since its folder has a number for a name."""
    root = of_two_students(tmp_path, good)
    (root / "submission_1" / "dots.ipynb").rename(root / "submission_1" / "dots.ipynb.json")
    found = taken(root, roster)
    assert [submission.student for submission in found.submissions] == ["ax3"] and remarks(found).keys() == {"jd1"}


def test_a_stranger_is_told_nothing_and_listed(export, taken, roster):
    """Catches a line in the table of grades for whoever has a folder."""
    found = taken(export(**{"Bob/dots.ipynb.json": "{}"}), roster)
    assert remarks(found) == {"": ""}


def test_without_a_class_the_only_student_is_told(export, taken):
    """Catches a student who grades alone, and who is not told of what was left out."""
    found = taken(export("dots.ipynb", **{"kl.ipynb.json": "{}"}), only_student="me")
    assert [submission.student for submission in found.submissions] == ["me"]
    assert remarks(found)["me"].startswith("kl.ipynb.json was not graded")


@pytest.mark.parametrize(
    ("names", "differ"),
    [
        (("lab-1.ipynb", "lab-2.ipynb"), True),
        (("Lab 1.ipynb", "lab_2 (1).ipynb"), True),
        (("lab1.ipynb", "LAB2__1_.ipynb"), True),
        (("lab-1.ipynb", "lab-01.ipynb"), False),
        (("lab-1.ipynb", "lab-1 (1).ipynb"), False),
        (("lab-1.ipynb", "kl-2.ipynb"), False),
        (("lab.ipynb", "lab-2.ipynb"), False),
        (("lab.ipynb", "kl.ipynb"), False),
        (("1.ipynb", "2.ipynb"), True),
    ],
)
def test_two_labs_are_told_from_two_downloads(names, differ):
    """Catches the first lab taken for an older version of the second, and a second download taken for another lab."""
    assert differ_by_number(names) is differ
    assert differ_by_number(reversed(names)) is differ


def test_a_student_with_two_versions_is_told_which_notebook_they_are_of(export, taken, roster):
    """Catches a student who is to leave one of two files, and is not told of which notebook."""
    found = taken(export("jd1/dots.ipynb", **{"jd1/old/dots.ipynb": "{}"}), roster)
    first, second = found.ungraded
    assert first.student == second.student == "jd1"
    assert first.remark == second.remark and first.remark.startswith("dots.ipynb was handed in twice")
    assert second.place in first.reason and first.place in second.reason and first.place not in first.reason


def test_files_that_may_be_of_several_notebooks_are_told_with_the_others():
    """Catches a sentence that names the file itself in the place of the others, and a student who is told nothing."""
    three = [Submission("ann", f"lab-{number}.ipynb", Path("x"), f"place {number}") for number in (1, 2, 3)]
    one = unlike(three[1], "lab.ipynb", three)
    assert (one.place, one.student) == ("place 2", "ann")
    assert one.reason.startswith("This and place 1, place 3 do not say") and "lab.ipynb" in one.reason
    assert one.remark.startswith("lab-2.ipynb was not graded") and "metadata was lost" in one.remark


def beside(found):
    """The modules that are taken along with each student's notebook."""
    return {one.student: [(name, file.read_text()) for name, file in one.modules] for one in found.submissions}


@pytest.mark.parametrize(
    ("hers", "his"),
    [
        ("doejane_1001_77_", "ruizjose_1002_79_"),
        ("doejane_1001_77_hw.zip/", "ruizjose_1002_79_"),
        ("Jane Doe_1001_assignsubmission_file_/", "José Ruiz_1002_assignsubmission_file_/"),
        ("jd1/", "jr2/"),
    ],
)
def test_modules_are_taken_along_with_the_notebook_beside_them(hers, his, export, taken, roster):
    """Catches a function that fails since its student's own file stayed behind, and one that is given another's file."""
    written = {f"{hers}helpers.py": "x = 1", f"{his}more.py": "y = 2", f"{his}away/far.py": "z = 3"}
    found = taken(export(f"{hers}dots.ipynb", f"{his}dots.ipynb", **written), roster)
    assert beside(found) == {"jd1": [("helpers.py", "x = 1")], "jr2": [("more.py", "y = 2")]}


def test_of_a_module_that_was_handed_in_again_the_latest_is_taken(export, taken, roster):
    """Catches the helper of the first try with the notebook of the second."""
    again = {"doejane_1001_78_helpers.py": "old", "doejane_1001_99_helpers-1.py": "new", "xuann_1003_5_b-2.py": "last"}
    found = taken(export("doejane_1001_77_dots.ipynb", "xuann_1003_4_dots.ipynb", **again), roster)
    assert beside(found) == {"jd1": [("helpers.py", "new")], "ax3": [("b.py", "last")]}


def test_a_module_that_takes_anothers_name_or_room_is_left(export, taken, roster):
    """Catches a `random.py` or a `shared.py` of a student's in the place of the real one, and files without end."""
    bad = {"random": "", "shared": "", "checker": "", "torch": "", "not a name": "", "large": "#" * 100_001}
    many = {f"module_{number:02d}": "" for number in range(12)}
    found = taken(export("jd1/dots.ipynb", **{f"jd1/{name}.py": text for name, text in (bad | many).items()}), roster)
    assert [name for name, _ in beside(found)["jd1"]] == [f"module_{number:02d}.py" for number in range(10)]
    assert len(found.ungraded) == len(bad) + 2 and {one.student for one in found.ungraded} == {""}


def test_a_module_alone_is_no_submission_and_is_told(export, taken, roster):
    """Catches a student who handed in the helpers and no notebook, and is told that nothing came."""
    [one] = taken(export("jr2/dots.ipynb", **{"jd1/helpers.py": ""}), roster).ungraded
    assert one.student == "jd1" and one.remark == "helpers.py was not graded: It is not a notebook (.ipynb)."
