"""The class list: which columns name a student, and who is meant by a name."""

import pytest

from checker.grading.collect.roster import Roster, Student, read_roster
from checker.reading.notebook import Unreadable


@pytest.fixture
def listed(tmp_path):
    """The roster in a text."""

    def read(text):
        path = tmp_path / "class.csv"
        path.write_text(text, encoding="utf-8")
        return read_roster(path)

    return read


@pytest.mark.parametrize(
    "heading", ["student", "ID", " id number ", "SID", "Email", "email address", "Name", "login", "x,name"]
)
def test_one_usual_heading_is_enough(heading, listed):
    """Catches a list that a platform exports and that is refused for how its column is called."""
    assert [student.id for student in listed(f"{heading}\njd1\nax3\n").students] == ["jd1", "ax3"]


@pytest.mark.parametrize("text", ["", "\n", "jd1\nid\n", "first name,last name\nAnn,Xu\n"])
def test_a_list_without_headings_is_refused_and_the_headings_are_named(text, listed):
    """Catches a class whose first student is left out, taken for the headings."""
    with pytest.raises(Unreadable, match="no line of headings.*student, id, .* or login"):
        listed(text)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_that_of_the_headings(delimiter, listed):
    """Catches a list whose names hold more commas than its lines have columns."""
    others = " ".join({",", ";"} - {delimiter}) * 5
    found = listed(f"id{delimiter}name\njd1{delimiter}Jane{others}\nax3{delimiter}Xu\n")
    assert found.students == (Student("jd1", ("jd1", f"Jane{others}")), Student("ax3", ("ax3", "Xu")))


def test_an_empty_line_is_nobody_and_ends_nothing(listed):
    """Catches half a class that is not on the list, since an empty line stands in its middle."""
    assert [student.id for student in listed("id,name\njd1,Jane\n\n,\nax3,Ann\n").students] == ["jd1", "ax3"]


def test_an_id_twice_is_told_with_its_line(listed):
    """Catches two students graded as one, and a sentence that sends one to another line of the list."""
    with pytest.raises(Unreadable, match="line 4: jd1 is there already"):
        listed("id,name\njd1,Jane\nax3,Ann\njd1,Joe\n")


TWO_COLUMNS = "id,Surname,Given name,email\njd1,Doe,Jane,jane@example.org\nbs3,Stone,Bob Ray,\n"


@pytest.mark.parametrize("name", ["Jane Doe", "Doe, Jane", "doejane", "JANE_DOE", "jane@example.org", "jd1"])
def test_first_and_last_name_make_one(name, listed):
    """Catches a list with two columns of names by which nobody is found whole."""
    assert listed(TWO_COLUMNS).known(name) == {"jd1"}


@pytest.mark.parametrize("name", ["Doe", "Jane", "Stone", "Bob", "Ray", ""])
def test_half_a_name_makes_nobody(name, listed):
    """Catches a first or a last name alone that is believed, since it has a column of its own."""
    assert listed(TWO_COLUMNS).known(name) == set()


@pytest.mark.parametrize("name", ["stonebobray", "bobraystone", "raystonebob"])
def test_a_name_without_blanks_may_begin_at_each_of_its_words(name, listed):
    """Catches Canvas' "stonebobray", which is nobody where only the order of the list is tried."""
    assert listed(TWO_COLUMNS).known(name) == {"bs3"}


def test_a_first_name_without_a_last_one_is_no_whole_name(listed):
    """Catches a traceback for a list that has one of the two columns."""
    for heading in ("First name", "Family name"):
        found = listed(f"id,{heading}\njd1,Jane\nax3,Ann\n")
        assert found.students == (Student("jd1", ("jd1",)), Student("ax3", ("ax3",)))


def test_a_list_that_begins_with_a_name_is_known_by_it(listed):
    """Catches students without an id, since the first column is one of first names."""
    found = listed("First name,email\nJane,jane@example.org\nAnn,ann@example.org\n")
    assert [student.id for student in found.students] == ["Jane", "Ann"]


def test_a_line_that_is_cut_short_is_known_by_what_it_has(listed):
    """Catches a traceback for a line without its last columns."""
    found = listed("id,email,First name,Last name,free days,days late\njd1,jane@example.org\n")
    assert found.students == (Student("jd1", ("jd1", "jane@example.org")),)


def test_late_days_are_no_names_and_a_wrong_number_is_told_with_its_place(listed):
    """Catches a student found under "3", days of one kind that count as the other, and words that count as none."""
    found = listed("id,days late,free days\njd1,3,5\nax3,,\n")
    assert found.students == (Student("jd1", ("jd1",), free_days=5, days_late=3), Student("ax3", ("ax3",)))
    assert not found.known("3") and not found.known("5")
    with pytest.raises(Unreadable, match="line 3: days late is '-1'"):
        listed("id,days late\njd1,3\nax3,-1\n")


def test_names_that_agree_on_one_student_tell_who_it_is():
    """Catches one of two Janes who is asked about, though her number stands beside her name."""
    two = Roster((Student("a", ("a", "Jane Doe")), Student("b", ("b", "Jane Doe")), Student("c", ("c", "Ann Xu"))))
    assert two.known("b", "Jane Doe") == {"b"}
    assert two.known("Jane Doe") == {"a", "b"} and two.known("c", "Jane Doe") == {"a", "b", "c"}
    assert two.known("nobody", "Ann Xu") == {"c"} and two.known() == two.known("nobody") == set()


def test_who_may_be_meant_is_found_only_where_nobody_is_known():
    """Catches a sentence that names no one, though the list has the first name, and a blank that may be everybody."""
    one = Roster((Student("a", ("a", "José Ruiz Díaz")), Student("b", ("b", "Ann Xu"))))
    assert one.find("jose") == one.find("Diaz") == {"a"} and one.find("ann") == {"b"}
    assert one.find("Ann Xu", "jose") == {"b"} and one.find("", "-") == set()
    assert one.find("ann", "ruiz") == {"a", "b"} and one.find("Ann Smith") == set()


@pytest.mark.parametrize(
    ("text", "students"),
    [
        (
            "Student,ID,SIS User ID,SIS Login ID,Section,Dots (1)\n    Points Possible,,,,,10\n"
            '"Lee, Ann",11,u1,ann,A,3\n"Ray, Bob",12,u2,bob,A,11\n"Student, Test",13,,,A,\n',
            {"u1": {"ann", "11", "Lee, Ann"}, "u2": {"bob", "12", "Ray, Bob"}},
        ),
        (
            'Student,ID,SIS User ID,SIS Login ID,Section\n"Lee, Ann",11,,ann,A\n"Ray, Bob",12,u2,bob,A\n',
            {"ann": {"11", "Lee, Ann"}, "bob": {"12", "u2", "Ray, Bob"}},
        ),
        (
            "First Name,Last Name,SID,Email,Sections,Total Score\nAnn,Lee,u1,a@x.org,,3\nAnn,Ray,u2,b@x.org,,u1\n",
            {"u1": {"a@x.org", "Ann Lee", "Lee Ann"}, "u2": {"b@x.org", "Ann Ray", "Ray Ann"}},
        ),
    ],
)
def test_a_platforms_gradebook_is_a_class_list(text, students, tmp_path):
    """Catches names taken for ids, two students of one first name, and points that find a student by their number."""
    path = tmp_path / "export.csv"
    path.write_text(text)
    assert {one.id: set(one.names) - {one.id} for one in read_roster(path).students} == students
