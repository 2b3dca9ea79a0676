"""Gradebooks of learning platforms: the table that was exported, with points in one column and all else as it was.

Only the cells of that column are written anew; every other byte of the file comes back, quotes and line ends too. The
columns are those of the platforms' own programs:

Canvas      lib/gradebook_exporter.rb and lib/gradebook_importer.rb of github.com/instructure/canvas-lms
Moodle      mod/assign/gradingtable.php and mod/assign/feedback/offline/importgradeslib.php of github.com/moodle/moodle
Gradescope  takes no table back, so that its points go through an autograder: `handing_back` in `gradescope.py`

Nobody is guessed: a line belongs to a student by its number, address or whole name, and stays as it was where these are
of nobody here, or of two.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from checker.grading.collect.roster import DELIMITERS, Roster, Student
from checker.points.totals import shown
from checker.reading.notebook import Unreadable, read_bytes

MARK_OF_UTF8 = "\ufeff"
FOLDER = "gradebooks"
FIRST = ("firstname", "first name")
LAST = ("lastname", "last name", "surname")
POINTS_POSSIBLE = "points possible"  # the line of Canvas with what each column is worth
READ_ONLY = "read only"
NO_POINTS = ("ex", "n/a")  # on Canvas: the student is excused, or the assignment is not the student's
WITH_ID = re.compile(r".*\(\d+\)", re.DOTALL)  # an assignment's column on Canvas: "Dots (4711)"
NUMBER_AT_END = re.compile(r"\D*(\d+)")  # "Participant 1234" in Moodle's worksheet
MOST_NAMED = 5


@dataclass(frozen=True)
class Platform:
    """A platform's table. All headings are in small letters.

    heads: those that tell it from other platforms' tables.    known_by: columns that say whose a line is.
    column: that of the points, "" where there may be several.    most: that with what the points may come to, "" for none.
    """

    name: str
    heads: frozenset[str]
    known_by: tuple[str, ...]
    column: str = ""
    most: str = ""


CANVAS = Platform("Canvas", frozenset({"id", "section"}), ("id", "sis user id", "sis login id", "student"))
GRADESCOPE = Platform(
    "Gradescope", frozenset({"email", "total score"}), ("sid", "email", "name"), "total score", "max points"
)
WORKSHEET = Platform(
    "Moodle",
    frozenset({"identifier", "grade"}),
    ("identifier", "id number", "username", "email address", "full name"),
    "grade",
    "maximum grade",
)
MOODLE = Platform("Moodle", frozenset({"email address"}), ("id number", "username", "email address"))
PLATFORMS = (CANVAS, GRADESCOPE, WORKSHEET, MOODLE)


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, and where it stands in the file."""

    text: str
    begin: int
    end: int


@dataclass(frozen=True)
class Wanted:
    """A column that is to be filled. notebook: whose points; "" for the total. column: its heading, "" for the usual one."""

    notebook: str = ""
    column: str = ""


@dataclass(frozen=True)
class Gradebook:
    """A platform's table as it was exported. text: all of the file; wanted: its columns to be filled."""

    path: Path
    text: str
    platform: Platform
    rows: list[list[Cell]]
    wanted: tuple[Wanted, ...] = ()

    @property
    def heads(self) -> list[str]:
        return [cell.text.strip().lower() for cell in self.rows[0]]

    def at(self, row: list[Cell], head: str) -> str:
        """The text of a line's cell below a heading; "" where there is none."""
        place = self.heads.index(head) if head in self.heads else len(row)
        return row[place].text.strip() if place < len(row) else ""


def read_gradebooks(paths: Iterable[Path], columns: Iterable[str] = ()) -> list[Gradebook]:
    """The tables in files, each with its columns to be filled: those of `columns` that it has, else the usual one.

    Args:
        columns: "Dots (4711)", or "dots.ipynb=Dots (4711)" for the points of one notebook.

    Raises:
        Unreadable: a file is not a table of a platform that is known, or does not say which column is meant; or a column
            is in none of the files.
    """
    asked = [_wanted(column) for column in columns]
    found = [_read(path) for path in paths]
    for wanted in asked:
        if found and not any(_places(gradebook, wanted) for gradebook in found):
            _column(found[0], wanted)
    return [_with_columns(gradebook, asked) for gradebook in found]


def _with_columns(gradebook: Gradebook, asked: list[Wanted]) -> Gradebook:
    own = tuple(wanted for wanted in asked if _places(gradebook, wanted)) or (Wanted(),)
    for wanted in own:
        _column(gradebook, wanted)
    return replace(gradebook, wanted=own)


def _read(path: Path) -> Gradebook:
    """The table in a file, no column chosen yet. Raises Unreadable as `read_gradebooks` does."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not in UTF-8. Give the file as the platform exported it.") from error
    begin = len(MARK_OF_UTF8) if text.startswith(MARK_OF_UTF8) else 0
    first = text[begin:].partition("\n")[0]
    rows = _rows(text, begin, max(DELIMITERS, key=first.count), path)
    heads = {cell.text.strip().lower() for cell in rows[0]} if rows else set()
    platform = next((one for one in PLATFORMS if one.heads <= heads), None)
    if platform is None:
        raise Unreadable(
            f"{path} is no gradebook of Canvas, Moodle or Gradescope: its first line is {first.strip()[:80]!r}. Give the"
            " file that the platform exports, with English headings (Moodle: in the language of your profile)."
        )
    return Gradebook(path, text, platform, rows)


def _wanted(column: str) -> Wanted:
    notebook, sign, heading = column.partition("=")
    return Wanted(notebook, heading) if sign and notebook.endswith(".ipynb") else Wanted(column=column)


def _rows(text: str, begin: int, delimiter: str, path: Path) -> list[list[Cell]]:
    """The cells of a CSV with their places. Raises Unreadable for what is no CSV."""
    cell = re.compile(rf'("[^"]*(?:""[^"]*)*"|[^"{delimiter}\r\n]*)({delimiter}|\r\n|\n|\r|\Z)')
    rows = [[]]
    place = begin
    while place < len(text) or rows[-1]:
        found = cell.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise Unreadable(f"{path}, line {line}, is no CSV. Give the file as the platform exported it.")
        written = found[1]
        inside = written[1:-1].replace('""', '"') if written.startswith('"') else written
        rows[-1].append(Cell(inside, found.start(1), found.end(1)))
        place = found.end()
        if found[2] != delimiter:
            rows.append([])
    return [row for row in rows if row]


def filled(gradebook: Gradebook, points: dict[str, dict[str, float]], roster: Roster) -> tuple[str, list[str]]:
    """The file with the points in it, and sentences on what the instructor should know.

    Args:
        points: by notebook, "" for the total, and by student. Who is not in it keeps what stands there.
    """
    named = roster if roster.students else _by_labels({student for some in points.values() for student in some})
    owners, said = _owners(gradebook, named)
    new: dict[int, tuple[Cell, str]] = {}
    for wanted in gradebook.wanted:
        column = _column(gradebook, wanted)
        given = points.get(wanted.notebook, {})
        if not given:
            said.append(f"{gradebook.path.name}: nobody has points of {wanted.notebook or 'a graded notebook'} yet.")
        beyond = []
        for student, row in owners.items():
            if student not in given or column >= len(row) or row[column].text.strip().lower() in NO_POINTS:
                continue
            most = _most(gradebook, row, column)
            if most is not None and given[student] > most:
                beyond.append(student)
            new[row[column].begin] = (row[column], shown(given[student]))
        if beyond:
            said.append(
                f"{_listed(beyond)}: more points than {gradebook.rows[0][column].text!r} is worth in {gradebook.path.name}."
                " Set what it is worth on the platform: Moodle leaves such points out without a word."
            )
        if absent := sorted(given.keys() - owners.keys()):
            said.append(f"{_listed(absent)}: points, but no line of their own in {gradebook.path.name}.")
    text = gradebook.text
    for cell, value in sorted(new.values(), key=lambda pair: -pair[0].begin):
        text = text[: cell.begin] + value + text[cell.end :]
    return text, said


def by_address(gradebook: Gradebook, points: dict[str, float], roster: Roster) -> dict[str, float]:
    """The points of Gradescope's students by their e-mail addresses, as its table has them."""
    owners, _ = _owners(gradebook, roster if roster.students else _by_labels(points))
    return {gradebook.at(row, "email"): points[student] for student, row in owners.items() if student in points}


def _owners(gradebook: Gradebook, roster: Roster) -> tuple[dict[str, list[Cell]], list[str]]:
    """Each student's line, and sentences on the lines of nobody here, and on students with two."""
    owners: dict[str, list[Cell]] = {}
    strangers = []
    twice = []
    for row in gradebook.rows[1:]:
        names = _names(gradebook, row)
        if not names:
            continue
        found = roster.known(*names)
        if len(found) != 1:
            strangers.append(names[-1])
        elif (student := next(iter(found))) in owners:
            twice.append(student)
        else:
            owners[student] = row
    for student in twice:
        owners.pop(student, None)
    said = []
    if strangers:
        said.append(f"{gradebook.path.name}: {_listed(strangers)}: of nobody here, or of several. Left as it was.")
    if twice:
        said.append(f"{gradebook.path.name}: two lines each: {_listed(twice)}. Left as they were.")
    return owners, said


def _names(gradebook: Gradebook, row: list[Cell]) -> list[str]:
    """The names in a line under which its student may be known, the surest first; none in a line that is nobody's."""
    if gradebook.platform is CANVAS and not gradebook.at(row, "id"):
        return []
    names = [gradebook.at(row, head) for head in gradebook.platform.known_by]
    if gradebook.platform is WORKSHEET and (number := NUMBER_AT_END.fullmatch(names[0])):
        names[0] = number[1]
    first = next(filter(None, (gradebook.at(row, head) for head in FIRST)), "")
    last = next(filter(None, (gradebook.at(row, head) for head in LAST)), "")
    return [name for name in (*names, f"{first} {last}".strip()) if name]


def _by_labels(labels: Iterable[str]) -> Roster:
    """A class without a roster, whose students are called by name and number: "doejane 1234" on Canvas."""
    students = []
    for label in sorted(labels):
        name, _, number = label.rpartition(" ")
        parts = (name, number) if name and number.isdigit() else ()
        students.append(Student(label, (label, *parts)))
    return Roster(tuple(students))


def _column(gradebook: Gradebook, wanted: Wanted) -> int:
    """The place of the column that is to be filled. Raises Unreadable where there is none, or may be several."""
    places = _places(gradebook, wanted)
    if len(places) != 1:
        heads = filter(None, (cell.text.strip() for cell in gradebook.rows[0]))
        asked = f"no column {wanted.column!r} alone" if wanted.column else "more than one column, or none, for points"
        raise Unreadable(
            f"{gradebook.path} has {asked}. Say which in class.yml, `columns: [...]`, one of: {', '.join(heads)}."
        )
    return places[0]


def _places(gradebook: Gradebook, wanted: Wanted) -> list[int]:
    """The places of the columns that may be meant."""
    heads = [cell.text.strip() for cell in gradebook.rows[0]]
    if wanted.column:
        places = [place for place, head in enumerate(heads) if head == wanted.column]
        places = places or [place for place, head in enumerate(heads) if head.startswith(f"{wanted.column} (")]
    elif gradebook.platform.column:
        places = [gradebook.heads.index(gradebook.platform.column)]
    else:
        places = [place for place, head in enumerate(heads) if WITH_ID.fullmatch(head)]
    return [place for place in places if READ_ONLY not in _possible(gradebook, place)]


def _possible(gradebook: Gradebook, column: int) -> str:
    """The worth of a column, as Canvas' line of points has it; "" elsewhere."""
    for row in gradebook.rows[1:]:
        if gradebook.platform is CANVAS and row[0].text.strip().lower() == POINTS_POSSIBLE and column < len(row):
            return row[column].text.strip().lower()
    return ""


def _most(gradebook: Gradebook, row: list[Cell], column: int) -> float | None:
    """The most that the points of a line may come to; None where the table does not say."""
    said = gradebook.at(row, gradebook.platform.most) if gradebook.platform.most else _possible(gradebook, column)
    try:
        return float(said.replace(",", "."))
    except ValueError:
        return None


def _listed(names: list[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
