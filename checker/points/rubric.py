"""The rubric: criteria from `rubric.yml`, and the evidence the checker found for each.

Its points are a person's to give: a page's form is filled in and saved from the browser (`checker/forms.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.check import Report
from checker.convert import plain
from checker.layout import SPECS, label_line, label_of, sections
from checker.notebook import Cell, Notebook, Unreadable
from checker.quoting import quoted
from checker.results import VERDICT, cases, log_lines
from checker.verdicts import Verdict, verdicts

RUBRIC = Path(__file__).with_name("rubric.yml")
QUOTED = 5  # lines of an output that are shown as evidence
PICTURE = "<Figure size"  # what is printed in a picture's place; pictures are counted
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
    """One thing found for a criterion: a sentence, where on the page it stands, what is printed or written there.

    written: whether the quote is a person's text, which can be long.
    """

    text: str
    anchor: str = ""
    quote: str = ""
    written: bool = False


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
    criteria: list[Criterion], notebook: Notebook, report: Report
) -> list[tuple[Criterion, list[Evidence]]]:
    """Each criterion with what was found for it, as the form shows them."""
    return [(criterion, list(evidence(criterion, notebook, report))) for criterion in criteria]


def _of_section(number: int, cells: list[Cell], checked: list[Verdict]) -> Evidence:
    if not cells:
        return Evidence(f"Cell {number} is missing")
    anchor = f"cell-{cells[0].number}"
    if SPECS[number].kind == "markdown":
        texts = [cell.source.strip() for cell in cells if not cell.is_code]
        words = sum(len(text.split()) for text in texts)
        said = "\n\n".join([_below_the_label(cells[0], texts[0]), *texts[1:]]) if texts else ""
        return Evidence(f"Cell {number}: {words} words", anchor, quoted(said), written=True)
    text = plain("\n".join(cell.text_output for cell in cells))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(PICTURE)]
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
    printed = [*(verdict.line for verdict in said_by_checks), *few]  # of the checks all, whatever they say
    return Evidence(said, anchor, "\n".join(line.rstrip()[:WIDTH] for line in printed))


def _below_the_label(cell: Cell, text: str) -> str:
    return text.removeprefix(label_line(cell)) if label_of(cell) is not None else text


def _of_step(text: str) -> list[str]:
    """What one step prints of its advantages and its loss."""
    return [line for line in text.splitlines() if re.search("shape|advantage|loss", line, re.IGNORECASE)]


def for_a_cell(value: object) -> str:
    """Text that a spreadsheet does not take for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
