"""The tables of what the tasks and chapters reach: today's recorded figures, and those of the chapters' records."""

import re
from itertools import product
from pathlib import Path

import pytest

from benchmarks import real_chapters, real_model
from benchmarks.learning import PAGE, REMARKS
from benchmarks.learning_recorded import HEADING, ROWS, section
from checker.outputs.chapters import chapters
from checker.reading.notebook import read
from shared.recorded import recorded

ROOT = Path(__file__).parents[1]
COURSE = {chapter.name: chapter for chapter in chapters(ROOT)}
# The chapters that the first table has, under the table's name for each.
TRAINED = {"dots": "dots", "reasoning_format": "format (LoRA)", "countdown": "countdown (sampled)"}
NUMBER = r"-?\d+\.\d+"
ROUNDED = 0.0005  # a figure of the page has three decimals


def rows_of(text: str) -> dict[str, list[str]]:
    """The cells of a Markdown table's rows, by the first of each; of a link its text."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return {re.sub(r"\[(\w+)\].*", r"\1", row[0]): row[1:] for row in rows}


@pytest.fixture(scope="module")
def page() -> tuple[str, str]:
    """The page as it should be: of what was trained for it, and of what it quotes from the recorded sweeps."""
    tables, _, _ = PAGE.read_text(encoding="utf-8").partition("\n" + REMARKS)
    trained, heading, quoted = tables.partition(HEADING)
    return trained, heading + quoted


def told(name: str) -> list[str]:
    """Before, after, lowest and highest, as the record of a chapter has them."""
    return re.findall(NUMBER, f"{COURSE[name].before} {COURSE[name].after}")


def agrees(written: str, value: float, slack: float = 0.0) -> bool:
    """True if a written number is this one, rounded to as many decimals."""
    decimals = len(written.partition(".")[2])
    return abs(float(written) - value) <= 0.5 * 10**-decimals + slack + 1e-9


def test_the_table_of_recorded_sweeps_is_made_from_those_that_are_there(page):
    """Catches a sweep that was made again while the table still quotes the one before, and figures typed by hand."""
    before = {
        chapter: float(cells[3])
        for chapter, cells in rows_of(page[1]).items()
        if len(cells) == 8 and cells[2].isdigit()
    }
    assert page[1] == section(before)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.chapter)
def test_a_record_says_of_a_chapter_what_its_sweep_recorded(row, page):
    """Catches a record that still has the figures of an older sweep, or those of another decoding before than after."""
    before, *after = told(row.chapter)
    assert agrees(before, float(rows_of(page[1])[row.chapter][3]), ROUNDED)
    for written, value in zip(after, recorded(row.chapter).spread(row.condition, row.after), strict=True):
        assert agrees(written, value), (written, value)


@pytest.mark.parametrize("name", TRAINED)
def test_a_record_says_of_a_task_what_the_benchmark_wrote(name, page):
    """As above, for what `python -m benchmarks.learning` trains itself."""
    _, before, mean, spread, *_ = rows_of(page[0])[TRAINED[name]]
    measured = [before, mean, *re.findall(NUMBER, spread)]
    for written, value in zip(told(name), measured, strict=True):
        assert agrees(written, float(value), ROUNDED), (written, value)


@pytest.mark.parametrize("name", sorted(set(COURSE) - set(TRAINED) - {row.chapter for row in ROWS}))
def test_a_record_says_of_any_other_chapter_what_its_notebook_prints(name):
    """Catches a chapter whose figures were never put in, and figures of a run before the last one."""
    printed = "\n".join(cell.text_output for cell in read(ROOT / COURSE[name].notebook).code_cells)
    found = [float(number) for number in re.findall(NUMBER, printed)]
    assert told(name), "put in the figures that the notebook prints"
    assert [written for written in told(name) if not any(agrees(written, number) for number in found)] == []


def test_the_page_on_a_real_model_has_what_was_recorded():
    """Catches runs that were added and not told, and figures typed by hand, on the page and in the README."""
    page = real_model.PAGE.read_text(encoding="utf-8")
    assert real_model.with_tables(page) == page
    told = rows_of((ROOT / "README.md").read_text(encoding="utf-8").partition("### A real model")[2])
    last = {attempt[0]["task"]: attempt for attempt in real_model.attempts(real_model.recorded_runs())}
    for name, task, before in (
        ("assignment, three examples in the prompt, drawn", "assignment", "before"),
        ("dots, behind a warm-up on right answers", "dots", "warm-up"),
    ):
        stages = [real_model.held_out(last[task], stage, "drawn") for stage in (before, "GRPO", "right answers")]
        assert told[name][:3] == stages


@pytest.mark.parametrize("claim", real_chapters.CLAIMS, ids=lambda claim: f"{claim.chapter}: {claim.says}")
def test_a_claim_on_the_real_model_can_hold_and_can_fail(claim):
    """Catches a claim of a chapter that there is not, of a condition that is not run, and one that no numbers refute."""
    assert claim.chapter in COURSE and {name for name, _ in claim.compared} <= set(real_chapters.CONDITIONS)
    tried = product((0.0, 0.3, 0.5, 0.6, 1.0), repeat=len(claim.compared))
    assert {claim.holds(*numbers) for numbers in tried} == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.chapter)
def test_the_untrained_model_reaches_what_the_table_says(row, page):
    """Catches a figure of another model, or of another way to measure it."""
    written = float(rows_of(page[1])[row.chapter][3])
    assert row.before() == pytest.approx(written, abs=0.02 + ROUNDED)
