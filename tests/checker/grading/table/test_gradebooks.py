"""Gradebooks of platforms come back with points in one column and every other byte as it was.

The tables are written after the programs that export and import them, read on the platforms' public sources; none of
the results was imported into a platform.
"""

import csv
import io
import json
import subprocess
import sys
import zipfile

import pytest

from checker.grading.collect.roster import Roster, Student
from checker.grading.table.gradebooks import filled, read_gradebooks
from checker.grading.table.gradescope import handing_back
from checker.grading.table.students import Line
from checker.reading.notebook import Unreadable

# https://github.com/instructure/canvas-lms/blob/master/lib/gradebook_exporter.rb: the header, a line with what is posted
# by hand, "    Points Possible", excused ("EX") and not assigned ("N/A") students, totals that are read only, and the
# student of the instructor's own view last. gradebook_importer.rb finds students by ID, assignments by "(ID)".
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,Dots (4711),Poker (4712),Assignments Current Score,Final Score\r\n"
    ",,,,,,Manual Posting,,,\r\n"
    "    Points Possible,,,,,,20.00,10.00,(read only),(read only)\r\n"
    '"Doe, Jane",1234,00123,jd1,Lab 1,"says ""hello"", late",,7.50,75.0,70.0\r\n'
    '"Müller, Jörg",1235,00124,jm2,"Lab 1, Lab 2",,3.00,,,\r\n'
    '"Stone, Bob",1236,00125,bs3,Lab 2,,EX,N/A,,\r\n'
    '"Student, Test",1300,,4a5b,Lab 1,,,,,\r\n'
)
# https://github.com/moodle/moodle/blob/main/mod/assign/gradingtable.php and feedback/offline/importgradeslib.php: a
# line is found by the number behind "Participant", the grade by its heading; more than the maximum is left out silently.
WORKSHEET = (
    'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 1234","Jane Doe",00123,jd1@example.org,"Submitted for grading - Graded",,20.00,Yes,'
    '"Friday, 20 November 2026, 10:12 AM",-,"<p>two\nlines</p>"\n'
    '"Participant 1235","Jörg Müller",00124,jm2@example.org,"No submission",,20.00,Yes,-,-,\n'
)
# https://docs.moodle.org/en/Grade_import: the gradebook's own export; its importer asks which column is which.
MOODLE = (
    "First name,Last name,ID number,Email address,Assignment: Dots (Real),Course total (Real)\n"
    "Jane,Doe,00123,jd1@example.org,-,-\n"
)
# The headings of "Download Grades", as courses publish their programs that read it.
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,Lateness (H:M:S)\n"
    "Jane,Doe,00123,JD1@example.org,Lab 1,,20.0,Ungraded,987,2026-11-20 10:12:00 +0100,00:00:00\n"
)
ROSTER = Roster(
    (
        Student("jd1", ("jd1", "Jane Doe", "jd1@example.org", "00123")),
        Student("jm2", ("jm2", "Jörg Müller", "jm2@example.org", "00124")),
        Student("bs3", ("bs3", "Bob Stone", "bs3@example.org", "00125")),
    )
)
TOTAL = {"": {"jd1": 12.5, "jm2": 17.0, "bs3": 4.0}}


@pytest.fixture
def fill(tmp_path):
    """Fill the text of an exported file; the new text and what was said."""

    def filling(text, points=TOTAL, columns=(), roster=ROSTER):
        path = tmp_path / "export.csv"
        path.write_text(text, encoding="utf-8", newline="")
        return filled(*read_gradebooks([path], columns), points, roster)

    return filling


def test_canvas_gets_its_column_and_every_other_byte_back(fill):
    """Catches a comma, a quote, a line of Canvas' own or a read-only total that comes back as something else."""
    text, said = fill(CANVAS, columns=["Dots (4711)"])
    expected = CANVAS.replace('late",,7.50', 'late",12.5,7.50').replace('Lab 2",,3.00', 'Lab 2",,17')
    assert text == expected
    assert said == ["export.csv: Student, Test: of nobody here, or of several. Left as it was."]


def test_the_assignments_name_is_enough(fill):
    """Catches an id that has to be typed."""
    assert fill(CANVAS, columns=["Dots"])[0] == fill(CANVAS, columns=["Dots (4711)"])[0]
    two = CANVAS.replace("Poker (4712)", "Dots 2 (4712)")
    assert fill(two, columns=["Dots"])[0] == fill(two, columns=["Dots (4711)"])[0], "whatever else begins with it"


def test_quotes_in_a_name_and_in_a_heading_are_a_part_of_it(fill):
    """Catches a student, or an assignment, with a nickname in quotes, which the platform writes twice: without points."""
    roster = Roster((Student("bs3", ('Stone, Robert "Bob"',)),))
    asked = 'Student,ID,Section,"Dots ""B"" (1)"\n"Stone, Robert ""Bob""",7,L,\n'
    assert fill(asked, columns=['Dots "B" (1)'], roster=roster)[0] == asked.replace("L,\n", "L,4\n")


def test_excused_students_and_other_peoples_assignments_stay(fill):
    """Catches points for an excused student, whom Canvas would then count again."""
    text, _ = fill(CANVAS, columns=["Dots", "dots.ipynb=Poker (4712)"], points=TOTAL | {"dots.ipynb": {"bs3": 3.0}})
    assert "Lab 2,,EX,N/A" in text


@pytest.mark.parametrize(
    ("columns", "why"),
    [([], "more than one column"), (["Final Score"], "no column 'Final Score' alone"), (["Chess"], "'Chess'")],
)
def test_a_column_that_is_not_clear_is_asked_for(fill, columns, why):
    """Catches points in another assignment's column, or in a total that Canvas ignores."""
    with pytest.raises(Unreadable, match=why) as error:
        fill(CANVAS, columns=columns)
    assert "Dots (4711), Poker (4712)" in str(error.value)


def test_each_notebook_has_a_column_of_its_own(fill):
    """Catches the total of two notebooks in each of two assignments."""
    points = {"dots.ipynb": {"jd1": 9.0}, "poker.ipynb": {"jd1": 8.0, "jm2": 0.0}}
    columns = ["dots.ipynb=Dots (4711)", "poker.ipynb=Poker"]
    rows = list(csv.reader(io.StringIO(fill(CANVAS, points, columns)[0])))
    assert [row[6:8] for row in rows[3:5]] == [["9", "8"], ["3.00", "0"]]


def test_semicolons_and_the_mark_of_excel_come_back(fill):
    """Catches a table of a European Canvas in the form of an American one."""
    text = "\ufeff" + CANVAS.replace('"Lab 1, Lab 2"', "Lab").replace('""hello"", late', "x").replace(",", ";")
    text = text.replace('"Doe; Jane"', '"Doe, Jane"')
    new, _ = fill(text, columns=["Dots"])
    assert new.startswith("\ufeffStudent;ID;") and ';"says x";12.5;7.50;' in new


def test_moodles_worksheet_is_filled_by_the_participants_number(fill):
    """Catches a comment over two lines that breaks the table, and a grade in another line."""
    text, said = fill(WORKSHEET)
    assert text == WORKSHEET.replace('Graded",,20', 'Graded",12.5,20').replace('submission",,20', 'submission",17,20')
    assert said == ["bs3: points, but no line of their own in export.csv."]


def test_a_class_without_a_roster_is_known_by_the_platforms_numbers(fill):
    """Catches a gradebook that can be filled only by who typed a roster first."""
    labels = {"": {"Jane Doe 1234": 5.0, "Jörg Müller 1235": 6.0}}
    rows = list(csv.reader(io.StringIO(fill(WORKSHEET, labels, roster=Roster())[0])))
    assert [row[5] for row in rows[1:]] == ["5", "6"]
    rows = list(csv.reader(io.StringIO(fill(CANVAS, {"": {"doejane 1234": 5.0}}, ["Dots"], Roster())[0])))
    assert rows[3][6] == "5"


def test_the_number_of_one_and_the_name_of_another_is_nobody(fill):
    """Catches one student's points under another's name."""
    text, said = fill(WORKSHEET.replace("00123,jd1@example.org", "00123,jm2@example.org"))
    assert "12.5" not in text and any("of several" in sentence for sentence in said)


def test_a_student_with_two_lines_gets_no_points_and_is_named(fill):
    """Catches points in one of two lines, of which nobody knows which counts."""
    text, said = fill(MOODLE + MOODLE.splitlines(True)[1], columns=["Assignment: Dots (Real)"])
    assert "12.5" not in text and any("two lines each: jd1" in sentence for sentence in said)


def test_moodles_own_gradebook_needs_the_name_of_the_column(fill):
    """Catches points in "Course total"."""
    text, _ = fill(MOODLE, columns=["Assignment: Dots (Real)"])
    assert text == MOODLE.replace("example.org,-,-", "example.org,12.5,-")
    with pytest.raises(Unreadable, match="Say which in class.yml"):
        fill(MOODLE)


@pytest.mark.parametrize("text", [WORKSHEET, CANVAS, GRADESCOPE])
def test_more_points_than_the_platform_takes_are_said(fill, text):
    """Catches a grade that Moodle leaves out without a word."""
    _, said = fill(text, {"": {"jd1": 44.0}}, columns=["Dots"] if text is CANVAS else [])
    assert any("jd1: more points than" in sentence for sentence in said)
    _, said = fill(text, {"": {"jd1": 20.0}}, columns=["Dots"] if text is CANVAS else [])
    assert not any("more points than" in sentence for sentence in said), "full marks are no more"


def test_gradescopes_table_is_filled(fill):
    """Catches a score beside its column, and a capital letter that makes an address another one."""
    text, _ = fill(GRADESCOPE)
    assert text == GRADESCOPE.replace("Lab 1,,20.0", "Lab 1,12.5,20.0")


@pytest.mark.parametrize(
    ("text", "platform"), [(CANVAS, "Canvas"), (GRADESCOPE, "Gradescope"), (WORKSHEET, "Moodle"), (MOODLE, "Moodle")]
)
def test_a_table_is_said_to_be_imported_where_it_came_from(tmp_path, text, platform):
    """Catches "to be imported into None" at the end of a run."""
    (tmp_path / "export.csv").write_text(text, encoding="utf-8", newline="")
    columns = ["Dots (4711)"] if text is CANVAS else ["Course total (Real)"] if text is MOODLE else []
    (gradebook,) = read_gradebooks([tmp_path / "export.csv"], columns)
    assert gradebook.platform.name == platform


@pytest.mark.parametrize("heads", ["First Name,Last Name", "Firstname,Surname", "Name,Group"])
def test_a_name_alone_is_enough(fill, heads):
    """Catches a class whose roster has no numbers and addresses, and of which the platform's table knows nobody."""
    text = GRADESCOPE.replace("First Name,Last Name", heads)
    text = text.replace("Jane,Doe", "Jane Doe,A") if heads.startswith("Name") else text
    new, said = fill(text, roster=Roster((Student("jd1", ("Jane Doe",)),)))
    assert ",12.5,20.0" in new and not any("of nobody here" in sentence for sentence in said)


def test_a_worksheets_number_is_enough(fill):
    """Catches a student whose name in the file of the upload is not the whole one of the worksheet."""
    assert ",5,20.00" in fill(WORKSHEET, {"": {"J. D. 1234": 5.0}}, roster=Roster())[0]


def test_the_most_that_a_platform_takes_may_have_a_comma(fill):
    """Catches a German Moodle, whose maximum of "20,00" is taken for none: it leaves 44 points out silently."""
    _, said = fill(WORKSHEET.replace("20.00", '"20,00"'), {"": {"jd1": 44.0}})
    assert any("jd1: more points than" in sentence for sentence in said)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", 'Student,ID,Section\n"x"y,1,\n'])
def test_what_is_no_gradebook_is_refused_in_a_sentence(fill, text):
    """Catches a traceback for a roster that was given in a gradebook's place."""
    with pytest.raises(Unreadable, match="no gradebook of Canvas|line 2, is no CSV"):
        fill(text)


def test_a_table_of_many_lines_takes_no_time(fill):
    """Catches a way of reading that takes the square of a table's size."""
    import time

    before = time.process_time()
    fill(WORKSHEET + WORKSHEET.splitlines(True)[-1].replace("1235", "99") * 3000)
    assert time.process_time() - before < 3


def item(earned, **changed):
    about = {"key": "a", "name": "kl", "field": "Exercise: kl", "section": "", "points": 2.0, "earned": earned}
    return about | changed


@pytest.mark.parametrize(
    ("line", "total", "of_one"),
    [
        (Line("ann"), None, None),
        (Line("ann", {"dots.ipynb": {"items": [item(2.0)], "earned": 2.0}}), 1.5, 2.0),
        (Line("ann", {"dots.ipynb": {"items": [item(2.0)], "earned": 2.0, "ungraded": "x"}}), None, None),
        (Line("ann", {"dots.ipynb": {"items": [item(2.0)], "earned": 2.0}}, unread=True), 1.5, 2.0),
    ],
)
def test_what_nobody_knows_yet_is_not_written(line, total, of_one):
    """Catches a 0 on the platform for whoever could not be graded, or hands in tomorrow."""
    assert (line.points("", "-0.5"), line.points("dots.ipynb", "-0.5")) == (total, of_one)
    assert Line("ann", line.results, unread=True).points("", "") is None


def handed_back(folder, *addresses):
    """Run the autograder that hands points back as Gradescope lays out its machine."""
    (folder / "source").mkdir(parents=True)
    with zipfile.ZipFile(io.BytesIO(handing_back({"JD1@example.org": 12.5, "bs3@example.org": 4.0}))) as archive:
        archive.extractall(folder / "source")
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o755
    users = [{"email": address, "id": 1, "name": "x"} for address in addresses]
    (folder / "submission_metadata.json").write_text(json.dumps({"id": 1, "users": users}))
    program = [sys.executable, str(folder / "source" / "hand_back.py"), str(folder)]
    return subprocess.run(program, capture_output=True, text=True)


def test_gradescopes_autograder_hands_the_points_back(tmp_path):
    """Catches points that a person gave and that never reach Gradescope, which takes no table."""
    assert handed_back(tmp_path / "a", "jd1@example.org").returncode == 0
    assert json.loads((tmp_path / "a/results/results.json").read_text())["score"] == 12.5
    for place, members in (("b", ["eve@example.org"]), ("c", ["jd1@example.org", "bs3@example.org"])):
        done = handed_back(tmp_path / place, *members)
        assert done.returncode and "No points were given" in done.stderr
        assert not (tmp_path / place / "results").exists()


def test_a_column_is_asked_of_the_gradebooks_that_have_it(tmp_path):
    """Catches --column demanded of Gradescope's table, whose column is known, since Canvas' table needs one."""
    (tmp_path / "canvas.csv").write_text(CANVAS, encoding="utf-8", newline="")
    (tmp_path / "gradescope.csv").write_text(GRADESCOPE, encoding="utf-8", newline="")
    paths = [tmp_path / "gradescope.csv", tmp_path / "canvas.csv"]
    gradescope, canvas = read_gradebooks(paths, ["Dots (4711)"])
    assert [one.column for one in canvas.wanted] == ["Dots (4711)"] and [one.column for one in gradescope.wanted] == [
        ""
    ]
    with pytest.raises(Unreadable, match="no column 'Dotz'"):
        read_gradebooks(paths, ["Dots (4711)", "Dotz"])
    with pytest.raises(Unreadable, match="canvas.csv has more than one column"):
        read_gradebooks(paths)
