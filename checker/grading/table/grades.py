"""The table of grades: one line for each student, and the instructor's corrections, which survive every regrading."""

import csv
import getpass
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from checker.grading.table.class_folder import MARK_OF_UTF8, Folder
from checker.grading.table.students import Line, number
from checker.points.rubric import for_a_cell
from checker.points.totals import sections, shown, summed
from checker.reading.notebook import Unreadable
from checker.rules.findings import COUNTED

TABLE = "grades.csv"
KNOWN = "corrections.json"  # the corrections as they were when the table was last written
SUMS = ("checks", "by hand", "rubric")
LATE = ("days late", "late")  # the second is what they take off
UNGRADED = "not graded"  # in place of a number, where grading failed and not the notebook
Corrections = dict[str, tuple[str, str, str]]  # by student: the points, who gave them and when
CORRECTION = ("correction", "corrected by", "corrected at")


def table(lines: list[Line], corrections: Corrections) -> str:
    """The CSV. `corrections` holds for a student the points, who gave them and when."""
    columns = _columns(lines)
    alone = len({column.notebook for column in columns}) == 1
    heads = [column.name if alone else f"{Path(column.notebook).stem}: {column.name}" for column in columns]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    late = LATE if any(line.lateness for line in lines) else ()
    writer.writerow(["student", *heads, *SUMS, *late, "total", "findings", "seconds", "remarks", *CORRECTION])
    for line in lines:
        points, who, when = corrections.get(line.student, ("", "", ""))
        findings = sum(f["level"] in COUNTED for r in line.results.values() for f in r["findings"])
        findings += sum(item.get("finding", False) for r in line.results.values() for item in r["items"])
        seconds = sum(result["seconds"] for result in line.results.values())
        remarks = [*line.remarks, *(remark for result in line.results.values() for remark in _remarks(result))]
        by_hand = shown(line.by_hand) if line.forms else ""
        rubric = shown(sum(line.rubric.values())) if line.forms else ""
        checks, total = (UNGRADED if line.ungraded else shown(some) for some in (line.earned, line.total(points)))
        if line.unread:
            checks = checks if line.results else ""
            total = total if points else ""
        cells = [_points(line, column) for column in columns]
        cells += [checks, by_hand, rubric, *(_late(line) if late else ()), total, findings, round(seconds)]
        # Points are numbers and may begin with "-"; texts may not.
        student, said, who, when = (for_a_cell(text) for text in (line.student, " ".join(remarks), who, when))
        writer.writerow([student, *cells, said, points, who, when])
    return out.getvalue()


def _late(line: Line) -> tuple[str, str]:
    """The days that a student is late, and what they take off; "" for what is not known."""
    if line.lateness is None or line.lateness.days is None:
        return "", ""
    return str(line.lateness.days), shown(line.late + 0.0) if line.late else "0"


def corrections(folder: Folder) -> Corrections:
    """The corrections in the table as it lies there; one that is new or was changed gets today's date and a name.

    Raises:
        Unreadable: a table is there and cannot be read, so that writing a new one would lose corrections.
    """
    place = folder.path / TABLE
    if not place.exists():
        return {}
    before = _before(folder)
    found = {}
    for line in _read(place):
        points, who, when = ((line.get(name) or "").strip() for name in CORRECTION)
        if not points:
            continue
        try:
            number(points)
        except ValueError:
            raise Unreadable(
                f"{place}: the correction of {line['student']} is {points!r}, which is no number. Mend it, and put words"
                " into the forms' comments."
            ) from None
        changed = before.get(line["student"], ["", "", ""])[0] != points
        known = before.get(line["student"], ["", "", ""])
        if changed and [who, when] == known[1:]:
            who = getpass.getuser()
            when = datetime.now().astimezone().isoformat(timespec="minutes")
        found[line["student"]] = (points, who, when)
    return found


def write(folder: Folder, lines: list[Line]) -> Corrections:
    """Write the table with the corrections that were in it, and return them. Raises Unreadable as `corrections` does.

    Who has a correction keeps the line, also in a run that was given another part of the class.
    """
    kept = corrections(folder)
    present = {line.student for line in lines}
    absent = [
        Line(student, remarks=["Nothing of this student was in the last run."]) for student in kept.keys() - present
    ]
    folder.write(KNOWN, json.dumps(kept, indent=1, ensure_ascii=False))
    folder.write_table(TABLE, table(sorted([*lines, *absent], key=lambda line: line.student), kept))
    return kept


def _before(folder: Folder) -> dict[str, list[str]]:
    try:
        known = json.loads((folder.path / KNOWN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _read(place: Path) -> list[dict]:
    """The lines of a table that a person may have saved from a spreadsheet, with semicolons in some countries."""
    try:
        text = place.read_text(encoding="utf-8").lstrip(MARK_OF_UTF8)
        head = text.splitlines()[0] if text.strip() else ""
        delimiter = ";" if head.count(";") > head.count(",") else ","
        lines = list(csv.DictReader(io.StringIO(text), delimiter=delimiter))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(f"{place} cannot be read ({error}). Save it as CSV in UTF-8, or move it away.") from error
    if "student" not in head or CORRECTION[0] not in head:
        raise Unreadable(
            f"{place} has no columns `student` and `{CORRECTION[0]}`, so that corrections in it would be lost. Move it away."
        )
    return [line | {"student": (line["student"] or "").removeprefix("'")} for line in lines]


@dataclass(frozen=True)
class _Column:
    """A column of points: of one exercise, of a whole section where `key` is None, of all where `section` is too."""

    notebook: str
    section: str | None
    key: str | None
    name: str

    def holds(self, item: dict) -> bool:
        """True if the points of an exercise belong in it."""
        return self.section in (None, item["section"]) and self.key in (None, item["key"])


def _columns(lines: list[Line]) -> list[_Column]:
    """A column for each exercise that anybody handed in, behind those of a section one for its sum, and behind those of
    a notebook, where there are several, one for all of it.
    """
    found: dict[str, dict[tuple[str, str], _Column]] = {}
    for line in lines:
        for notebook, result in line.results.items():
            for section, items in sections(result["items"]).items():
                of_notebook = found.setdefault(notebook, {})
                for item in items:
                    of_notebook[section, item["key"]] = _Column(notebook, section, item["key"], item["name"])
    columns = []
    for notebook, of_notebook in sorted(found.items()):
        for section in dict.fromkeys(section for section, _ in of_notebook):
            columns += [column for (where, _), column in of_notebook.items() if where == section]
            if section:
                columns.append(_Column(notebook, section, None, f"{section.partition(':')[0]} (sum)"))
        if len(found) > 1:
            columns.append(_Column(notebook, None, None, "sum"))
    return columns


def _remarks(result: dict) -> Iterator[str]:
    """The remarks on a notebook: why it was not graded, or what stopped it and which exercises are missing."""
    if result.get("ungraded"):
        yield f"{result['notebook']}: {UNGRADED}: {result['ungraded']}"
        return
    if result["stopped"]:
        yield result["stopped"]
    if missing := [item["name"] for item in result["items"] if item.get("missing")]:
        yield f"{result['notebook']}: missing: {', '.join(missing)}."


def _points(line: Line, column: _Column) -> str:
    """The points earned; "" for what was not handed in, or is still the instructor's to give."""
    if line.results.get(column.notebook, {}).get("ungraded"):
        return UNGRADED
    given = [item for item in line.items(column.notebook) if column.holds(item) and item["earned"] is not None]
    return shown(summed(given).earned) if given else ""
