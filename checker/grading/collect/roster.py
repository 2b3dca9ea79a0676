"""The class list: who hands in, and by which names a student is known on a learning platform."""

import csv
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from checker.reading.notebook import Unreadable, read_bytes

FIRST_NAME = r"(first|given) ?name"
LAST_NAME = r"(last|family|sur) ?name"
FREE_DAYS = r"free days"
DAYS_LATE = r"days late"
# The columns of a platform's own table that say who a line is: all others hold points, or say where somebody sits.
# The first of them is the id.
OF_CANVAS = ("sis user id", "sis login id", "id", "student")
OF_PLATFORMS = {
    frozenset({"id", "section", "student"}): OF_CANVAS,
    frozenset({"email", "total score"}): ("sid", "email", "name"),
    frozenset({"email address", "last downloaded from this course"}): ("id number", "username", "email address"),
}
NOBODY = ("points possible", "student, test")  # lines of Canvas that are no students
DELIMITERS = (",", ";", "\t")  # a spreadsheet saves semicolons where the comma is for decimals
FIRST_COLUMN = (
    "student",
    "id",
    "id number",
    "sid",
    "email",
    "email address",
    "name",
    "login",
)  # the first line holds one


@dataclass(frozen=True)
class Student:
    """One line of the roster. id: its first column. names: those under which the student may hand in, as a whole.

    free_days, days_late: late days that cost this student nothing, and how many there were; None where it does not say.
    """

    id: str
    names: tuple[str, ...]
    free_days: int | None = None
    days_late: int | None = None


@dataclass(frozen=True)
class Roster:
    """The students in the order of the list; none at all where no list was given."""

    students: tuple[Student, ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, set[str]]:
        by_name: dict[str, set[str]] = {}
        for student in self.students:
            for name in student.names:
                for key in (*_keys(name), *_run_together(name)):
                    by_name.setdefault(key, set()).add(student.id)
        return by_name

    def known(self, *names: str) -> frozenset[str]:
        """The ids of the students who bear these names, each a whole one; several where two bear it, or names disagree."""
        found = [ids for name in names if (ids := self._bearing(name))]
        agreed = frozenset.intersection(*found) if found else frozenset()
        return agreed or frozenset().union(*found)

    def find(self, *names: str) -> frozenset[str]:
        """As `known`; where nobody is, those who may be meant, since a name is a part of theirs: a first name alone."""
        return self.known(*names) or frozenset().union(*map(self._resembling, names))

    def _bearing(self, name: str) -> frozenset[str]:
        return next((frozenset(self._by_name[key]) for key in _keys(name) if key in self._by_name), frozenset())

    def _resembling(self, name: str) -> frozenset[str]:
        words = set(_words(name))
        alike = (one for one in self.students if any(words <= set(_words(other)) for other in one.names))
        return frozenset(student.id for student in alike if words)


def read_roster(path: Path) -> Roster:
    """A CSV with a line of headings; the first column is the id that grades are listed under.

    Raises:
        Unreadable: no such table, or an id occurs twice.
    """
    try:
        rows = read_bytes(path).decode("utf-8-sig").splitlines()
        delimiter = max(DELIMITERS, key="".join(rows[:1]).count)
        lines = list(csv.reader(rows, delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(f"{path} is not a CSV table in UTF-8 ({error}). Save it as CSV in UTF-8.") from error
    if not lines or not any(heading.strip().lower() in FIRST_COLUMN for heading in lines[0]):
        raise Unreadable(
            f"{path} has no line of headings. Its first line must name the columns, one of them"
            f" {', '.join(FIRST_COLUMN[:-1])} or {FIRST_COLUMN[-1]}; the first column is the id."
        )
    lines = _of_people(lines)
    whole_name = _whole_name(lines[0])
    parts = {*_columns(lines[0], FIRST_NAME), *_columns(lines[0], LAST_NAME)} - {0}  # nobody is known by one of these
    counts = [*_columns(lines[0], FREE_DAYS), *_columns(lines[0], DAYS_LATE)]
    parts |= set(counts)  # and nobody is called 3
    students = []
    for number, line in enumerate(lines[1:], 2):
        names = tuple(cell.strip() for place, cell in enumerate(line) if cell.strip() and place not in parts)
        if not names:
            continue
        if whole_name and len(line) > max(whole_name):
            first, last = (line[column].strip() for column in whole_name)
            names += (f"{first} {last}", f"{last} {first}")  # Canvas writes the second, without the space
        if any(student.id == names[0] for student in students):
            raise Unreadable(f"{path}, line {number}: {names[0]} is there already. An id belongs to one student.")
        free, late = (_days(line, lines[0], head, f"{path}, line {number}") for head in (FREE_DAYS, DAYS_LATE))
        students.append(Student(names[0], names, free, late))
    return Roster(tuple(students))


def _of_people(lines: list[list[str]]) -> list[list[str]]:
    """The table with the id in front. Of a gradebook that a platform exported only the columns that say who a line is."""
    heads = [heading.strip().lower() for heading in lines[0]]
    known = next((columns for asked, columns in OF_PLATFORMS.items() if asked <= set(heads)), None)
    if known is None:
        return lines
    people = [line for line in lines[1:] if line and line[0].strip().lower() not in NOBODY]
    places = [heads.index(name) for name in known if name in heads]
    # An id that somebody lacks is no id of the class.
    full = [place for place in places if all(place < len(line) and line[place].strip() for line in people)]
    kept = [*full, *(place for place in places if place not in full)]
    kept += [place for pattern in (FIRST_NAME, LAST_NAME) for place in _columns(lines[0], pattern)]
    return [[line[place] if place < len(line) else "" for place in kept] for line in (lines[0], *people)]


def _days(line: list[str], headings: list[str], head: str, where: str) -> int | None:
    """The number of days in a line; None where there is none. Raises Unreadable for something else."""
    cells = [line[place].strip() for place in _columns(headings, head) if place < len(line)]
    if not any(cells):
        return None
    if not cells[0].isdecimal():
        raise Unreadable(f"{where}: {head} is {cells[0]!r}. Give whole days, such as 2, or nothing.")
    return int(cells[0])


def _whole_name(headings: list[str]) -> tuple[int, ...]:
    """The columns of first and last name, where a list has them apart, as Moodle's has; else none."""
    first = _columns(headings, FIRST_NAME)
    last = _columns(headings, LAST_NAME)
    return (first[0], last[0]) if first and last else ()


def _columns(headings: list[str], pattern: str) -> list[int]:
    return [number for number, heading in enumerate(headings) if re.match(pattern, heading.strip().lower())]


def _keys(name: str) -> list[str]:
    """A name as it is compared: "Doe, Jané" as "doejane" and, whatever the order of its words, as "doe jane"."""
    words = _words(name)
    return ["".join(words), " ".join(sorted(words))] if words else []


def _run_together(name: str) -> list[str]:
    """A name without blanks, begun at each of its words: Canvas writes "stonebob" for "Bob Stone"."""
    words = _words(name)
    return ["".join(words[place:] + words[:place]) for place in range(1, len(words))]


def _words(name: str) -> list[str]:
    """The words of a name, without capitals and accents."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return re.findall(r"[^\W_]+", "".join(char for char in plain if not unicodedata.combining(char)))
