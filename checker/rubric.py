"""The rubric: criteria from `rubric.yml`, and the evidence the checker found for each.

Its points are a person's to give: a page's form is filled in and saved from the browser (`checker/forms.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.check import Report
from checker.convert import plain
from checker.layout import SPECS, sections
from checker.notebook import Cell, Notebook, Unreadable
from checker.points import Exercise, exercises, titles
from checker.results import VERDICT, cases, log_lines
from checker.verdicts import Verdict, verdicts

RUBRIC = Path(__file__).with_name("rubric.yml")
QUOTED = 5  # lines of an output that are shown as evidence
MOST_POINTS = 100  # of a question; more is a slip, or somebody's joke
WIDTH = 120  # characters of such a line


@dataclass(frozen=True)
class Criterion:
    """One criterion: where its evidence stands, which rules bear on it, what each level from 1 to 5 means."""

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
        raise Unreadable(f"{path} is not a rubric: a list of entries with `name` and `levels` ({error}).") from error


@dataclass(frozen=True)
class Evidence:
    """One thing found for a criterion: a sentence, where on the page it stands, what is printed there."""

    text: str
    anchor: str = ""
    quote: str = ""


def evidence(criterion: Criterion, notebook: Notebook, report: Report) -> Iterator[Evidence]:
    """What was found for a criterion: what its sections print, the rewards, the findings that bear on it."""
    present = sections(notebook)
    checked = verdicts(notebook)
    for number in criterion.sections:
        yield _of_section(number, present.get(number, []), checked)
    if 7 in criterion.sections and report.baseline is not None and report.tuned is not None:
        yield Evidence(
            f"Reward {report.baseline:.3f} before, {report.tuned:.3f} after",
            f"cell-{present[7][0].number}" if 7 in present else "",
        )
    for finding in sorted(report.findings, key=lambda finding: finding.level == "question"):
        if finding.code in criterion.rules:
            anchor = "" if finding.cell is None else f"cell-{finding.cell}"
            yield Evidence(f"{finding.code} ({finding.level}): {finding.found}", anchor)


def with_evidence(
    criteria: list[Criterion], notebook: Notebook, report: Report, asked: list[Exercise] | None = None
) -> list[tuple[Criterion, list[Evidence]]]:
    """Each criterion with what was found for it, as the form shows them, and then the written questions.

    asked: the exercises of the notebook that was handed out; None takes the questions, and their worth, from this one.
    """
    found = [(criterion, list(evidence(criterion, notebook, report))) for criterion in criteria]
    return [*found, *_questions(notebook, asked)]


def _questions(notebook: Notebook, asked: list[Exercise] | None) -> Iterator[tuple[Criterion, list[Evidence]]]:
    """The questions that are answered in words and worth points, each from 0 to its points, and which are missing."""
    cells = [{"cell_type": cell.kind, "source": cell.source} for cell in notebook.cells]
    there = titles(cells)
    for exercise in exercises(cells) if asked is None else asked:
        if exercise.written and exercise.points <= MOST_POINTS:
            levels = dict.fromkeys(range(int(exercise.points) + 1), "")
            missing = exercise.what and exercise.what not in there
            found = [Evidence("The question is not in the notebook any more")] if missing else []
            yield Criterion(f"Question: {exercise.what}", (), (), levels), found


def _of_section(number: int, cells: list[Cell], checked: list[Verdict]) -> Evidence:
    if not cells:
        return Evidence(f"Cell {number} is missing")
    anchor = f"cell-{cells[0].number}"
    if SPECS[number].kind == "markdown":
        words = sum(len(cell.source.split()) for cell in cells if not cell.is_code)
        return Evidence(f"Cell {number}: {words} words", anchor)
    text = plain("\n".join(cell.text_output for cell in cells))
    lines = [line for line in text.splitlines() if line.strip()]
    pictures = sum(output.image for cell in cells for output in cell.outputs)
    telling = {4: cases, 5: _of_step, 6: log_lines}.get(number, lambda _: lines)(text)
    named = {4: "case", 6: "log line"}.get(number, "line")
    count = len(telling if number in (4, 6) else lines)
    said = f"Cell {number}: {count} {named}{'s' if count != 1 else ''}"
    if pictures:
        said += f", {pictures} picture{'s' if pictures != 1 else ''}"
    said_by_checks = [verdict for verdict in checked if verdict.cell in {cell.number for cell in cells}]
    if said_by_checks:
        said += f", checks {sum(verdict.passed for verdict in said_by_checks)} of {len(said_by_checks)}"
    telling = [line for line in telling if not VERDICT.match(line)]
    few = telling if len(telling) <= QUOTED else [*telling[: QUOTED - 1], "...", telling[-1]]
    quoted = [*(verdict.line for verdict in said_by_checks), *few]  # of the checks all, whatever they say
    return Evidence(said, anchor, "\n".join(line.rstrip()[:WIDTH] for line in quoted))


def _of_step(text: str) -> list[str]:
    """What one step prints of its advantages and its loss."""
    return [line for line in text.splitlines() if re.search("shape|advantage|loss", line, re.IGNORECASE)]


def for_a_cell(value: object) -> str:
    """Text that a spreadsheet does not take for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
