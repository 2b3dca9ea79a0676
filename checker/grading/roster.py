"""The class list: who hands in, and by which names a student is known on a learning platform."""

import csv
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from checker.notebook import Unreadable, read_bytes

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
    """One line of the roster. id: its first column. names: all of its columns, under which the student may hand in."""

    id: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Roster:
    """The students in the order of the list; none at all where no list was given."""

    students: tuple[Student, ...] = ()
    _by_name: dict[str, set[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        by_name: dict[str, set[str]] = {}
        for student in self.students:
            for name in student.names:
                for key in _keys(name):
                    by_name.setdefault(key, set()).add(student.id)
        object.__setattr__(self, "_by_name", by_name)

    def find(self, *names: str) -> frozenset[str]:
        """The ids of the students who are known by one of the names, the first name by which anybody is."""
        for name in names:
            for key in _keys(name):
                if found := self._by_name.get(key):
                    return frozenset(found)
        return frozenset()


def read_roster(path: Path) -> Roster:
    """A CSV with a line of headings; the first column is the id that grades are listed under.

    Raises:
        Unreadable: no such table, or an id occurs twice.
    """
    try:
        rows = read_bytes(path).decode("utf-8-sig").splitlines()
        delimiter = max(DELIMITERS, key=rows[0].count) if rows else DELIMITERS[0]
        lines = list(csv.reader(rows, delimiter=delimiter))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(f"{path} is not a CSV table in UTF-8 ({error}). Save it as CSV in UTF-8.") from error
    if not lines or not any(heading.strip().lower() in FIRST_COLUMN for heading in lines[0]):
        raise Unreadable(
            f"{path} has no line of headings. Its first line must name the columns, one of them"
            f" {', '.join(FIRST_COLUMN[:-1])} or {FIRST_COLUMN[-1]}; the first column is the id."
        )
    whole_name = _whole_name(lines[0])
    students = []
    for number, line in enumerate(lines[1:], 2):
        names = tuple(cell.strip() for cell in line if cell.strip())
        if not names:
            continue
        if whole_name and len(line) > max(whole_name):
            first, last = (line[column].strip() for column in whole_name)
            names += (f"{first} {last}", f"{last} {first}")  # Canvas writes the second, without the space
        if any(student.id == names[0] for student in students):
            raise Unreadable(f"{path}, line {number}: {names[0]} is there already. An id belongs to one student.")
        students.append(Student(names[0], names))
    return Roster(tuple(students))


def _whole_name(headings: list[str]) -> tuple[int, ...]:
    """The columns of first and last name, where a list has them apart, as Moodle's has; else none."""
    first = _columns(headings, r"(first|given) ?name")
    last = _columns(headings, r"(last|family|sur) ?name")
    return (first[0], last[0]) if first and last else ()


def _columns(headings: list[str], pattern: str) -> list[int]:
    return [number for number, heading in enumerate(headings) if re.match(pattern, heading.strip().lower())]


def _keys(name: str) -> list[str]:
    """A name as it is compared: "Doe, Jané" as "doejane" and, whatever the order of its words, as "doe jane"."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    words = re.findall(r"[^\W_]+", "".join(char for char in plain if not unicodedata.combining(char)))
    if not words:
        return []
    return ["".join(words), " ".join(sorted(words))]
