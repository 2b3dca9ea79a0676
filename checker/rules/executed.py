"""Every code cell was run, once, from top to bottom, without an error."""

from collections.abc import Iterator
from textwrap import shorten

from checker.reading.convert import plain
from checker.reading.notebook import Cell, Output
from checker.reading.options import is_left_out
from checker.rules.base import Remark, Submission, rule

NAMED = 3  # further cells that are named
LONGEST = 200  # characters of an error that are shown, whole words
RUN_AGAIN = "Restart the kernel, run all cells, and save."


def _has_code(source: str) -> bool:
    return any(line.strip() and not line.strip().startswith("#") for line in source.splitlines())


@rule(
    "X001",
    "error",
    why="A cell that was not run has no output: there is nothing to grade.",
    wrong="In [ ]:",
    right="In [4]:",
)
def not_run(submission: Submission) -> Iterator[Remark]:
    idle = [cell for cell in _uncounted(submission) if not cell.outputs]
    if idle:
        yield idle[0].number, f"the cell was not run{_and_others(submission, idle, 'nor were')}", RUN_AGAIN


def _uncounted(submission: Submission) -> list[Cell]:
    """The cells with code that were to be run and have no number."""
    cells = (cell for cell in submission.notebook.code_cells if cell.in_python and not is_left_out(cell))
    return [cell for cell in cells if cell.count is None and _has_code(cell.source)]


def _and_others(submission: Submission, cells: list[Cell], likewise: str) -> str:
    """The further cells of which the same is true, by name where they are few."""
    rest = cells[1:]
    named = "; ".join(submission.place(cell.number) for cell in rest)
    return f", {likewise} {named if len(rest) <= NAMED else f'{len(rest)} others'}" if rest else ""


@rule(
    "X005",
    "warning",
    why=(
        "Outputs were saved without the numbers of execution: whether the cells ran in order, and whether the outputs"
        " belong to the code above them, cannot be seen."
    ),
    wrong="In [ ]: with a table under it.",
    right="In [4]: with a table under it.",
)
def outputs_without_a_number(submission: Submission) -> Iterator[Remark]:
    shown = [cell for cell in _uncounted(submission) if cell.outputs]
    if shown:
        yield (
            shown[0].number,
            f"the cell has outputs but no In [n]{_and_others(submission, shown, 'and so have')}",
            RUN_AGAIN,
        )


@rule(
    "X002",
    "error",
    why=(
        "Cells run in another order than they stand in may work only in your session. One number that two cells have is"
        " of a copied cell, or of two sessions in one file."
    ),
    wrong="In [7] above In [3]",
    right="In [1], In [2], In [3], ...",
)
def run_out_of_order(submission: Submission) -> Iterator[Remark]:
    highest = 0
    seen = set()
    for cell in submission.notebook.code_cells:
        if cell.count is None:
            continue
        if cell.count in seen:
            yield (
                cell.number,
                f"two cells have In [{cell.count}]: one was copied, or two sessions were mixed",
                RUN_AGAIN,
            )
        elif cell.count < highest:
            yield (
                cell.number,
                f"In [{cell.count}] stands below In [{highest}]: the cells were not run from top to bottom",
                RUN_AGAIN,
            )
        seen.add(cell.count)
        highest = max(highest, cell.count)


@rule(
    "X003",
    "error",
    why="Below an error the outputs are those of an earlier run, or missing.",
    wrong="NameError: name 'rewards' is not defined",
    right="No cell ends in an error.",
)
def ended_in_an_error(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        for output in cell.outputs:
            if output.kind == "error":
                said = _type_and_message(output) or "unknown"
                yield (
                    cell.number,
                    f"the cell ended in an error: {shorten(said, LONGEST, placeholder=' ...')}",
                    "Mend it. " + RUN_AGAIN,
                )


def _type_and_message(output: Output) -> str:
    """The type and the message of an error; of one that was saved without them the last line of its traceback.

    A traceback may end in a note, in an arrow below a line, or in what a widget printed.
    """
    lines = [line for line in plain(output.text).splitlines() if line.strip(": ")]
    return plain(output.error).strip() or (lines[-1] if lines else "")


@rule(
    "X004",
    "error",
    why="An output under a cell that was emptied was printed by code that is not there any more.",
    wrong="An empty cell with a table under it.",
    right="Every output belongs to the code above it.",
)
def output_without_code(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        if cell.outputs and not _has_code(cell.source):
            yield cell.number, "there is an output but no code", RUN_AGAIN


RULES = [not_run, outputs_without_a_number, run_out_of_order, ended_in_an_error, output_without_code]
