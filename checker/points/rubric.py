"""The rubric: criteria from `rubric.yml`, and the evidence the checker found for each.

Its points are a person's to give: a page's form is filled in and saved from the browser (`checker/points/forms.py`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from checker.checking.check import Report
from checker.outputs.check_results import CheckResult, check_results
from checker.outputs.results import VERDICT, cases, log_lines
from checker.reading.convert import plain
from checker.reading.layout import SPECS, label_line, label_of, sections
from checker.reading.notebook import Cell, Notebook, Unreadable
from checker.reading.text import quoted

RUBRIC = Path(__file__).with_name("rubric.yml")
QUOTED = 5  # lines of an output that are shown as evidence
PICTURE = "<Figure size"  # what is printed in a picture's place; pictures are counted
WIDTH = 120  # characters of such a line
# Where a spreadsheet may begin a cell: semicolons part cells where commas are decimal, whatever stands in quotes.
FORMULA = re.compile(r"(?:^|(?<=[;\t\r\n|]))(?=[=+\-@])")


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
    """One thing found for a criterion, as a sentence.

    anchor: its place on the page.      quote: the words printed or written there.
    written: whether the quote is a person's text, which can be long.
    """

    text: str
    anchor: str = ""
    quote: str = ""
    written: bool = False


def evidence(criterion: Criterion, notebook: Notebook, report: Report) -> Iterator[Evidence]:
    """The evidence for a criterion: the output of its sections, the rewards, the findings that bear on it."""
    present = sections(notebook)
    checked = check_results(notebook)
    for number in criterion.sections:
        yield _of_section(number, present.get(number, []), checked)
    if 7 in criterion.sections and report.baseline is not None and report.tuned is not None:
        yield Evidence(
            f"Reward {report.baseline:.3f} before, {report.tuned:.3f} after",
            _anchor(present[7]) if 7 in present else "",
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


def _of_section(number: int, cells: list[Cell], checked: list[CheckResult]) -> Evidence:
    if not cells:
        return Evidence(f"Cell {number} is missing")
    if SPECS[number].kind == "markdown":
        return _of_text(number, cells)
    return _of_output(number, cells, checked)


def _of_text(number: int, cells: list[Cell]) -> Evidence:
    """The text that a person wrote, in its length and its words."""
    texts = [cell.source.strip() for cell in cells if not cell.is_code]
    words = sum(len(text.split()) for text in texts)
    written = "\n\n".join([_below_the_label(cells[0], texts[0]), *texts[1:]]) if texts else ""
    return Evidence(f"Cell {number}: {words} words", _anchor(cells), quoted(written), written=True)


def _of_output(number: int, cells: list[Cell], checked: list[CheckResult]) -> Evidence:
    """The output of a section: how many lines, pictures and passed checks, and a few of the lines."""
    text = plain("\n".join(cell.text_output for cell in cells))
    lines = _lines_of(number, text)
    pictures = sum(output.image for cell in cells for output in cell.outputs)
    here = {cell.number for cell in cells}
    results = [result for result in checked if result.cell in here]
    told = f"Cell {number}: {_counted(lines.count, lines.name)}"
    if pictures:
        told += f", {_counted(pictures, 'picture')}"
    if results:
        told += f", checks {sum(result.passed for result in results)} of {len(results)}"
    shown = _few([line for line in lines.shown if not VERDICT.match(line)])
    printed = [*(result.line for result in results), *shown]  # every check, whatever it says
    return Evidence(told, _anchor(cells), "\n".join(line.rstrip()[:WIDTH] for line in printed))


@dataclass(frozen=True)
class _Lines:
    """The lines of a section's output that are evidence. count: how many there are, of those that `name` names."""

    name: str
    count: int
    shown: list[str]


def _lines_of(number: int, text: str) -> _Lines:
    """Cell 4's cases, Cell 6's log lines, and of any other all lines; of Cell 5 only those of the step are shown."""
    if number == 4:
        found = cases(text)
        return _Lines("case", len(found), found)
    if number == 6:
        found = log_lines(text)
        return _Lines("log line", len(found), found)
    every = [line for line in text.splitlines() if line.strip() and not line.startswith(PICTURE)]
    return _Lines("line", len(every), _of_step(text) if number == 5 else every)


def _of_step(text: str) -> list[str]:
    """The lines in which one step prints its advantages and its loss."""
    return [line for line in text.splitlines() if re.search("shape|advantage|loss", line, re.IGNORECASE)]


def _few(lines: list[str]) -> list[str]:
    """The first lines and the last, QUOTED in all and a row of dots."""
    return lines if len(lines) <= QUOTED else [*lines[: QUOTED - 1], "...", lines[-1]]


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' if count != 1 else ''}"


def _anchor(cells: list[Cell]) -> str:
    """The place on the page where a section begins."""
    return f"cell-{cells[0].number}"


def _below_the_label(cell: Cell, text: str) -> str:
    return text.removeprefix(label_line(cell)) if label_of(cell) is not None else text


def for_a_cell(value: object) -> str:
    """Text that a spreadsheet does not take for a formula, nor a part of it where that splits it into cells."""
    return FORMULA.sub("'", "" if value is None else str(value))
