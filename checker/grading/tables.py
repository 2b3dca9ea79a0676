"""The table of grades: one line for each student, and the instructor's corrections, which survive every regrading."""

import csv
import getpass
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from checker.findings import COUNTED
from checker.forms import Form
from checker.grading.storing import Folder
from checker.notebook import Unreadable
from checker.rubric import for_a_cell

TABLE = "grades.csv"
KNOWN = "corrections.json"  # the corrections as they were when the table was last written
UNGRADED = "not graded"  # in place of a number, where grading failed and not the notebook
CORRECTION = ("correction", "corrected by", "corrected at")


@dataclass
class Line:
    """What is known of one student: results and rubric points, each by notebook; remarks such as "missing"."""

    student: str
    results: dict[str, dict] = field(default_factory=dict)
    rubric: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def earned(self) -> float:
        return sum(result["earned"] for result in self.results.values())


def add_forms(lines: Iterable[Line], forms: Iterable[Form]) -> list[Form]:
    """Put the rubric's points to the students; the forms that belong to nobody here come back."""
    by_student = {line.student: line for line in lines}
    strangers = []
    for form in forms:
        line = by_student.get(form.student)
        if line is None:
            strangers.append(form)
        else:
            line.rubric[form.notebook] = form.total
    return strangers


def table(lines: list[Line], corrections: dict[str, tuple[str, str, str]]) -> str:
    """The CSV. `corrections` holds for a student the points, who gave them and when."""
    columns = _columns(lines)
    alone = len({notebook for notebook, _, _ in columns}) == 1
    heads = [name if alone else f"{Path(notebook).stem}: {name}" for notebook, _, name in columns]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", *heads, "checks", "rubric", "total", "findings", "seconds", "remarks", *CORRECTION])
    for line in lines:
        correction = corrections.get(line.student, ("", "", ""))
        rubric = sum(line.rubric.values())
        ungraded = any(result.get("ungraded") for result in line.results.values())
        total = line.earned + rubric + _number(correction[0])
        findings = sum(f["level"] in COUNTED for r in line.results.values() for f in r["findings"])
        findings += sum(item.get("finding", False) for r in line.results.values() for item in r["items"])
        seconds = sum(result["seconds"] for result in line.results.values())
        remarks = [*line.remarks, *(remark for result in line.results.values() for remark in _remarks(result))]
        cells = [_points(line, notebook, key) for notebook, key, _ in columns]
        checks, total = (UNGRADED if ungraded else _short(number) for number in (line.earned, total))
        cells += [checks, _short(rubric) if line.rubric else "", total, findings, round(seconds)]
        points, who, when = correction
        texts = [
            for_a_cell(text) for text in (line.student, " ".join(remarks), who, when)
        ]  # numbers may begin with "-"
        writer.writerow([texts[0], *cells, texts[1], points, *texts[2:]])
    return out.getvalue()


def corrections(folder: Folder) -> dict[str, tuple[str, str, str]]:
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
            _number(points)
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


def write(folder: Folder, lines: list[Line]) -> Path:
    """Write the table, with the corrections that were in it. Raises Unreadable as `corrections` does.

    Who has a correction keeps the line, also in a run that was given another part of the class.
    """
    kept = corrections(folder)
    present = {line.student for line in lines}
    absent = [
        Line(student, remarks=["Nothing of this student was in the last run."]) for student in kept.keys() - present
    ]
    folder.write(KNOWN, json.dumps(kept, indent=1, ensure_ascii=False))
    return folder.write(TABLE, table(sorted([*lines, *absent], key=lambda line: line.student), kept))


def _before(folder: Folder) -> dict[str, list[str]]:
    try:
        known = json.loads((folder.path / KNOWN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _read(place: Path) -> list[dict]:
    """The lines of a table that a person may have saved from a spreadsheet, with semicolons in some countries."""
    try:
        text = place.read_text(encoding="utf-8-sig")
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


def _columns(lines: list[Line]) -> list[tuple[str, str, str]]:
    """(notebook, key, name) of each exercise that anybody handed in."""
    found = {}
    for line in lines:
        for notebook, result in line.results.items():
            for item in result["items"]:
                found[(notebook, item["key"])] = (notebook, item["key"], item["name"])
    order = list(found)
    return [found[place] for place in sorted(found, key=lambda place: (place[0], order.index(place)))]


def _remarks(result: dict) -> Iterator[str]:
    """Why a notebook was not graded, or what stopped it and which exercises are not in it any more."""
    if result.get("ungraded"):
        yield f"{result['notebook']}: {UNGRADED}: {result['ungraded']}"
        return
    if result["stopped"]:
        yield result["stopped"]
    if missing := [item["name"] for item in result["items"] if item.get("missing")]:
        yield f"{result['notebook']}: missing: {', '.join(missing)}."


def _points(line: Line, notebook: str, key: str) -> str:
    """What was earned, "" for what was not handed in or is the instructor's to grade."""
    result = line.results.get(notebook, {"items": []})
    if result.get("ungraded"):
        return UNGRADED
    earned = next((item["earned"] for item in result["items"] if item["key"] == key), None)
    return "" if earned is None else _short(earned)


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _number(text: str) -> float:
    return float(text.replace(",", ".").removeprefix("'")) if text else 0.0
