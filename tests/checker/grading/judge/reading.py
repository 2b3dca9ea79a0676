"""A notebook, read as grading reads it, for tests that judge it in this process."""

from functools import partial

from checker.grading.judge.hidden_cases import Programs, programs
from checker.grading.judge.sheets import Sheet
from checker.reading.syntax.statements import Definitions


def programs_of(student: Definitions, sheet: Sheet, references) -> Programs:
    """The reading of a notebook that `verdicts` asks for."""
    return partial(programs, student, sheet, references.cases(check.name for check in sheet.checks))
