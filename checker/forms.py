"""The rubric's forms, filled on the pages and saved as small JSON files: read, put into one table, nothing lost.

A form that was saved twice, or that the browser gave a name with "(1)", counts once, the latest; a damaged one is named
and the others are counted.
"""

import csv
import io
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from checker.findings import one_line
from checker.notebook import Unreadable, read_bytes
from checker.rubric import for_a_cell

NAMES = "*.grades*.json"  # "dots.grades.json" and "dots.grades (1).json"


@dataclass(frozen=True)
class Form:
    """One saved form. student: "" where the page did not say; saved: when, by the form, else by its file."""

    student: str
    notebook: str
    scores: dict[str, float | None]
    comment: str
    saved: float
    path: Path

    @property
    def total(self) -> float:
        return sum(score for score in self.scores.values() if score is not None)


def read_forms(folder: Path) -> tuple[list[Form], list[str], list[str]]:
    """The forms below a folder, the latest of each notebook; a sentence on each choice; and one on each damaged form.

    Raises:
        Unreadable: no form is there.
    """
    latest: dict[tuple[str, str], Form] = {}
    chosen = []
    damaged = []
    paths = sorted(folder.rglob(NAMES))
    for path in paths:
        try:
            form = _read(path)
        except (Unreadable, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            damaged.append(f"{one_line(str(path))} is not a saved form ({error!r:.200}). Save it again from its page.")
            continue
        other = latest.get((form.student, form.notebook))
        if other is None:
            latest[(form.student, form.notebook)] = form
            continue
        later = max(form, other, key=lambda one: one.saved)
        earlier = other if later is form else form
        latest[(form.student, form.notebook)] = later
        chosen.append(f"{one_line(str(later.path))} was saved after {one_line(str(earlier.path))}, and counts.")
    if not paths:
        raise Unreadable(
            f"No filled forms ({NAMES}) are in {folder}. Open a page, fill the form at its end, and save it there."
        )
    return [latest[key] for key in sorted(latest)], chosen, damaged


def table(forms: list[Form]) -> str:
    """One line for each form, as CSV: student, notebook, a score for each criterion, total, comment."""
    names = list(dict.fromkeys(name for form in forms for name in form.scores))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "notebook", *names, "total", "comment"])
    for form in forms:
        scores = [form.scores.get(name) for name in names]
        cells = [form.student, form.notebook, *map(_shown, scores), _shown(form.total), form.comment]
        writer.writerow([for_a_cell(cell) for cell in cells])
    return out.getvalue()


def _read(path: Path) -> Form:
    """Raises whatever is raised where something else lies there than a form."""
    content = json.loads(read_bytes(path).decode("utf-8-sig"))
    scores = {}
    for name, score in content["scores"].items():
        scores[str(name)] = None if score is None else float(score)
        if score is not None and not math.isfinite(scores[str(name)]):
            raise ValueError(f"the score of {name} is {score}")
    saved = content.get("saved")
    moment = datetime.fromisoformat(saved).astimezone(UTC).timestamp() if saved else path.stat().st_mtime
    notebook = str(content.get("notebook", path.name))
    return Form(str(content.get("student", "")), notebook, scores, str(content.get("comment", "")), moment, path)


def _shown(score: float | None) -> str:
    return "" if score is None else f"{score:g}"
