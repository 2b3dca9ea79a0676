"""The rubric: criteria from `rubric.yml`, the evidence the checker found for each, and collecting filled forms.

The checker never gives points. A page's form is filled by a person and saved from the browser as a small JSON file;
`checker grades` puts the files of a folder into one table.
"""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

from checker.check import Report
from checker.layout import sections
from checker.notebook import Notebook, Unreadable

RUBRIC = Path(__file__).with_name("rubric.yml")
GRADES = ".grades.json"


@dataclass(frozen=True)
class Criterion:
    """One criterion: where its evidence stands, which rules bear on it, and what each level from 1 to 5 means."""

    name: str
    sections: tuple[int, ...]
    rules: tuple[str, ...]
    levels: dict[int, str]


def load(path: Path = RUBRIC) -> list[Criterion]:
    """The criteria of a rubric file. Raises Unreadable with the reason when it is not one."""
    import yaml

    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [
            Criterion(
                e["name"],
                tuple(e.get("sections", ())),
                tuple(e.get("rules", ())),
                {int(k): v for k, v in e["levels"].items()},
            )
            for e in entries
        ]
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(
            f"{path} is not a rubric: a list of entries with `name` and `levels` ({error})."
        ) from error


def evidence(criterion: Criterion, notebook: Notebook, report: Report) -> list[tuple[str, str]]:
    """(text, anchor) of what the checker found for a criterion: the sections that are there, and the findings."""
    found = []
    present = sections(notebook)
    for number in criterion.sections:
        if cells := present.get(number):
            printed = sum(len(output.text) > 0 for cell in cells for output in cell.outputs)
            pictures = sum(output.image for cell in cells for output in cell.outputs)
            parts = [f"{printed} printed output{'s' if printed != 1 else ''}"] if printed else []
            parts += [f"{pictures} picture{'s' if pictures != 1 else ''}"] if pictures else []
            found.append(
                (f"Cell {number}" + (f": {', '.join(parts)}" if parts else ""), f"cell-{cells[0].number}")
            )
        else:
            found.append((f"Cell {number} is missing", ""))
    if 7 in criterion.sections and report.baseline is not None and report.tuned is not None:
        found.append((f"reward {report.baseline:.3f} before, {report.tuned:.3f} after", ""))
    for finding in report.findings:
        if finding.code in criterion.rules:
            found.append(
                (f"{finding.code}: {finding.found}", "" if finding.cell is None else f"cell-{finding.cell}")
            )
    return found


def collect(folder: Path) -> str:
    """One line for each filled form below a folder, as CSV: notebook, one score for each criterion, comment.

    Raises:
        Unreadable: no form is there, or one is damaged; the message names it.
    """
    forms = []
    for path in sorted(folder.rglob(f"*{GRADES}")):
        try:
            form = json.loads(path.read_text(encoding="utf-8"))
            scores = {str(name): score for name, score in form["scores"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unreadable(
                f"{path} is not a saved form ({error!r}). Save it again from its page."
            ) from error
        forms.append((str(form.get("notebook", path.name)), scores, str(form.get("comment", ""))))
    if not forms:
        raise Unreadable(
            f"No filled forms (*{GRADES}) are in {folder}. Open a page, fill the form at its end, and save it there."
        )
    names = list(dict.fromkeys(name for _, scores, _ in forms for name in scores))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["notebook", *names, "comment"])
    for notebook, scores, comment in forms:
        writer.writerow([_cell(notebook), *[_cell(scores.get(name, "")) for name in names], _cell(comment)])
    return out.getvalue()


def _cell(value: object) -> str:
    """Text that a spreadsheet does not take for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
