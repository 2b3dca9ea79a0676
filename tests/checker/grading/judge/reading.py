"""A notebook, read as grading reads it, for tests that judge it in this process."""

from functools import partial

from checker.grading.judge.hidden_cases import Programs, programs
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.reading.syntax.statements import Definitions


def programs_of(student: Definitions, worked: WorkedNotebook, references) -> Programs:
    """The reading of a notebook that `verdicts` asks for."""
    return partial(programs, student, worked, references.cases(check.name for check in worked.checks))
