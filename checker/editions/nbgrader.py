"""A worked notebook as nbgrader's source: `nbgrader generate_assignment` makes the students' release of it.

An exercise is a cell with a solution, whose region begins below its TODO. Below it stands a test cell with the course's
check, which earns the points. Answers, and exercises without a check, are graded by hand. The metadata are those of
nbgrader's schema 3.
"""

import ast

from checker.editions.questions import Question, around_solutions, code_cell, number, parts, text_cell

SCHEMA = {"schema_version": 3, "task": False}
TEST = """# The course's check: it earns the points of the exercise above
from shared import check

assert {calls}"""


def written(content: dict, source: str) -> dict:
    """The JSON of nbgrader's source notebook. `source` names the worked notebook in messages.

    Raises:
        MarkerError: see `checker.editions.assign.blank`.
    """
    cells = []
    for part in parts(content, source):
        cells += _cells(part) if isinstance(part, Question) else [part]
    return content | {"cells": cells, "metadata": {"kernelspec": content["metadata"].get("kernelspec", {})}}


def _cells(question: Question) -> list[dict]:
    if question.written:
        answer = text_cell(question.name, "\n".join(question.lines))
        return [_marked(answer, solution=True, points=question.points)]
    exercise = code_cell(question.name, around_solutions(question.lines, ["### BEGIN SOLUTION"], ["### END SOLUTION"]))
    if not question.checks:
        return [_marked(exercise, solution=True, points=question.points)]
    test = code_cell(f"{question.name}-check", TEST.format(calls=" and ".join(map(ast.unparse, question.checks))))
    return [_marked(exercise, solution=True), _marked(test, solution=False, points=question.points)]


def _marked(cell: dict, solution: bool, points: float | None = None) -> dict:
    """The cell with nbgrader's metadata; without points it is not graded itself."""
    graded = {"grade": False} if points is None else {"grade": True, "points": number(points)}
    marks = SCHEMA | graded | {"grade_id": cell["id"], "locked": not solution, "solution": solution}
    return cell | {"metadata": {"nbgrader": marks}}
