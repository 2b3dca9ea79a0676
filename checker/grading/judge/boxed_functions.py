"""Running students' functions on hidden cases in boxes, and judging the values that come back.

A box is a group of processes without network and with limits. It runs several functions, one after the other. A function
is through when the box sends its last record, {"key": ..., "ended": ...}. The answer key judges outside of the box.

A box ends in one of three ways: it did all its work (`finished`), it went over a limit (`stopped`), or a function ended
it (`cut_short`). `judge_one_batch` follows this table:

    how the box ended                       judged from it         run again
    finished                                all                    none
    stopped, some functions are through     those                  the others, together
    stopped, no function is through         the first              the others, together
    cut short                               those through          each of the others, alone

In the third row the first function is judged, since no other has run in that box. In the fourth row nobody is judged for
the end of the box: a function can end it at any time, even after its own last record. A function that runs again alone is
judged from that second box, however it ends.

An example: `square`, `cube` and `fourth` run in one box, and `cube` kills it. `square` was through and is judged. `cube`
runs alone, kills that box too, and its verdict is "it ended the box it ran in, and did so again alone; it gave 0 of 5
answers." `fourth` runs alone as well, and passes. That took three boxes.
"""

import os
from dataclasses import dataclass, replace
from functools import cached_property

from checker.grading.box import modules
from checker.grading.box.isolation import Outcome, run_submission
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Isolation, box
from checker.grading.judge.reference_process import HiddenVerdict, ReferenceProcess
from checker.points.items import Check
from checker.reading.slicing.slices import Slice
from checker.reading.text import printable

SECONDS = 20.0  # for all cases of one function
MOST_PATIENCE = 5.0  # times as many, however busy the machine
MOST_CASES = 10_000  # no exercise has as many; a submission may write any number into its answers
STARTING = 60.0  # seconds for the box to import torch on a busy machine
MOST_WARNINGS = 4  # lines below a verdict
LONGEST_TEXT = 4_000  # characters of a verdict
NOT_THERE = "The function is not in the notebook."
IMPORTED_SOLUTION = "It imports what is to be written."
ENDED_ITS_BOX = "it ended the box it ran in, and did so again alone"
IMPORTED = ("torch", "shared.exercises.calling")  # once for all functions of a box, since this takes seconds


@dataclass(frozen=True)
class BoxedFunction:
    """A student's function that is to run in a box.

    check: the check that the function is judged by.
    program: the statements that define the function.
    allowed_imports: names of the project that the function may import.
    has_reference: false for a task of the student's own, which may import anything.
    """

    check: Check
    program: Slice
    allowed_imports: frozenset[str]
    has_reference: bool = True

    @cached_property
    def files(self) -> frozenset[str]:
        """The files of the project that the function may import, as paths below the project."""
        return frozenset(modules.files(self.allowed_imports, ROOT))


@dataclass(frozen=True)
class FinishedBox:
    """A box that has ended.

    functions: the functions that it was to run, in order.
    outcome: how it ended.
    """

    functions: list[BoxedFunction]
    outcome: Outcome

    def records(self, function: BoxedFunction) -> list[dict]:
        """The records that the box sent on one function."""
        key = _record_key(self.functions.index(function))
        return [record for record in self.outcome.records if record.get("key") == key]

    def is_through(self, function: BoxedFunction) -> bool:
        """True if the box sent the last record of the function."""
        return any("ended" in record for record in self.records(function))


@dataclass(frozen=True)
class Grader:
    """Everything that judging needs besides the functions.

    references: the process that knows what is right.
    isolation: the kind of box.
    limits: of each box.
    """

    references: ReferenceProcess
    isolation: Isolation
    limits: Limits


def judge_in_boxes(functions: list[BoxedFunction], grader: Grader) -> dict[Check, HiddenVerdict]:
    """Return the verdict on each function.

    Raises:
        BoxFailed: a box failed, and no function is to blame.
    """
    verdicts = {}
    to_run = []
    for function in functions:
        if function.program.problem:
            verdicts[function.check] = HiddenVerdict(False, function.program.problem, mistakes=(NOT_THERE,))
        elif function.program.forbidden_imports:
            verdicts[function.check] = _verdict_on_forbidden_imports(function)
        else:
            to_run.append(function)
    for batch in in_batches(to_run):
        verdicts |= judge_one_batch(batch, grader)
    return verdicts


def in_batches(functions: list[BoxedFunction]) -> list[list[BoxedFunction]]:
    """Return the functions in batches that share a box, at most one of each kind:

        most files             the functions that may import the most files; no other function is shown these files
        fewer files            the others that have a reference
        without a reference    a student's own task, which may import anything

    A notebook of the course has functions of the first two kinds, so it takes two boxes. own_task takes one of the third.
    """
    most_files = max((_size(function) for function in functions if function.has_reference), default=None)
    batches: dict[str, list[BoxedFunction]] = {}
    for function in functions:
        if not function.has_reference:
            kind = "without a reference"
        else:
            kind = "most files" if _size(function) == most_files else "fewer files"
        batches.setdefault(kind, []).append(function)
    return list(batches.values())


def _size(function: BoxedFunction) -> tuple[int, list[str]]:
    """Orders functions by the number of files that they may import, and those of one number by the files."""
    return len(function.files), sorted(function.files)


def judge_one_batch(functions: list[BoxedFunction], grader: Grader) -> dict[Check, HiddenVerdict]:
    """Return the verdict on each function, in as many boxes as the table above asks for."""
    verdicts = {}
    waiting = functions
    while waiting:
        ended = _run_in_one_box(waiting, grader)
        waiting = _to_run_again(ended)
        for function in ended.functions:
            if function not in waiting:
                verdicts[function.check] = verdict_from_box(function, ended, grader.references)
        if ended.outcome.cut_short:
            return verdicts | {function.check: _judge_alone(function, grader) for function in waiting}
    return verdicts


def _judge_alone(function: BoxedFunction, grader: Grader) -> HiddenVerdict:
    """Return the verdict on a function from a box of its own."""
    return verdict_from_box(function, _run_in_one_box([function], grader), grader.references)


def _to_run_again(ended: FinishedBox) -> list[BoxedFunction]:
    """The functions that this box says nothing about: the last column of the table above."""
    if ended.outcome.finished:
        return []
    not_through = [function for function in ended.functions if not ended.is_through(function)]
    nobody_through = len(not_through) == len(ended.functions)
    if ended.outcome.stopped and nobody_through:
        return not_through[1:]
    return not_through


def patience() -> float:
    """The factor of a box's seconds: one where each process has a processor, more where they wait for each other."""
    waiting = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return min(MOST_PATIENCE, max(1.0, waiting / (os.cpu_count() or 1)))


def _run_in_one_box(functions: list[BoxedFunction], grader: Grader) -> FinishedBox:
    """Run functions in one box, one after the other. It shows what any of them may import."""
    cases = grader.references.cases(function.check.name for function in functions)
    needed_by_calls = modules.files((*modules.CALLING, *cases.modules), ROOT)
    visible = set(needed_by_calls).union(*(function.files for function in functions))
    shown = [(ROOT / path, path) for path in sorted(visible)]
    times = patience()
    wall = times * min(grader.limits.wall, STARTING + SECONDS * len(functions))
    job = {
        "do": "answers",
        "cases": cases.pickled,
        "imports": IMPORTED,
        "functions": [
            {
                "key": _record_key(number),
                "cases": function.check.name,
                "statements": function.program.statements,
                "modules": function.program.modules,
                "name": function.check.function,
                "seconds": times * SECONDS,
            }
            for number, function in enumerate(functions)
        ],
    }
    outcome = run_submission(box(grader.isolation, shown, replace(grader.limits, wall=wall)), job)
    return FinishedBox(functions, outcome)


def _record_key(number: int) -> str:
    """The key of the records on one function of a box, by its place."""
    return str(number)


def _verdict_on_forbidden_imports(function: BoxedFunction) -> HiddenVerdict:
    forbidden = ", ".join(function.program.forbidden_imports)
    return HiddenVerdict(
        passed=False,
        text=f"`{function.check.function}` uses {forbidden}, which this exercise does not allow: it is to be written,"
        " not imported.",
        finding=True,
        mistakes=(IMPORTED_SOLUTION,),
    )


def verdict_from_box(function: BoxedFunction, ended: FinishedBox, references: ReferenceProcess) -> HiddenVerdict:
    """Return the verdict on one function of a box that has ended.

    Where answers are missing, its text begins with the reason. Below it stand the warnings on the function's program.
    """
    records = ended.records(function)
    verdict = references.judge(function.check.name, _answers(records))
    text = verdict.text
    reason = _reason_of_the_end(records, ended.outcome)
    if reason and verdict.only_answers_missing:
        text = f"{reason}; {text}"
    taken = ", ".join(f"`{name}.py`" for name, _ in function.program.modules)
    program = function.program
    beside = taken and f"Taken along from beside the notebook: {taken}."
    lines = [text, program.which_definition, program.which_numbers, beside]
    if not verdict.passed:
        failed_statements = [str(record["remark"]) for record in records if "remark" in record]
        warnings = [*program.warnings, *failed_statements]
        lines += warnings[:MOST_WARNINGS]
    return replace(verdict, text=printable("\n".join(line for line in lines if line)[:LONGEST_TEXT]))


def _answers(records: list[dict]) -> list[dict | None]:
    """The outcome of each case up to the last that was answered; None for one without."""
    by_case = {}
    for record in records:
        if isinstance(record.get("outcome"), dict) and record.get("case") in range(MOST_CASES):
            by_case[record["case"]] = record["outcome"]
    count = max(by_case, default=-1) + 1
    return [by_case.get(number) for number in range(count)]


def _reason_of_the_end(records: list[dict], outcome: Outcome) -> str:
    """The reason why a function ended early; "" for none. What is recorded of the function counts before its box's end."""
    for record in records:
        if "ended" in record:
            return str(record["ended"])
    if outcome.stopped:
        return outcome.stopped
    return ENDED_ITS_BOX if outcome.cut_short else ""
