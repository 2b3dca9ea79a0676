"""A worked notebook as otter-grader's source: `otter assign` makes the students' notebook and the autograder of it.

Raw cells begin and end its questions. An exercise's test calls the course's check; answers, and exercises without a
check, are graded by hand. What was taken out stops with NotImplementedError as in a blank edition, and not with the
three dots that Otter would leave, which look like a function that is filled in and gives None.
"""

import ast
import builtins

from checker.editions.questions import Question, around_solutions, code_cell, number, parts, text_cell

# Students need no package of Otter's: no cell calls it, since the course's checks stand below the exercises.
CONFIG = """# ASSIGNMENT CONFIG
init_cell: false
export_cell: false
check_all_cell: false
tests:
    ok_format: false"""
BEFORE = ["# BEGIN SOLUTION NO PROMPT"]
BEHIND = ["# END SOLUTION", '""" # BEGIN PROMPT', "raise NotImplementedError", '""" # END PROMPT']
# Otter hands a test the notebook's variables that its arguments name.
TEST = """def test_{name}({arguments}):
    from shared import check
    assert {calls}"""


def written(content: dict, source: str) -> dict:
    """The JSON of Otter's source notebook. `source` names the worked notebook in messages.

    Raises:
        MarkerError: see `checker.editions.assign.blank`.
    """
    cells = [_raw("otter-config", CONFIG)]
    for part in parts(content, source):
        if isinstance(part, Question):
            # Otter's pages for grading by hand show a question from its first cell of text on.
            above = part.written and cells[-1]["cell_type"] == "markdown"
            cells += _cells(part, [cells.pop()] if above else [])
        else:
            cells.append(part)
    return content | {"cells": cells, "metadata": {"kernelspec": content["metadata"].get("kernelspec", {})}}


def _cells(question: Question, asked: list[dict]) -> list[dict]:
    """The cells of a question; `asked` are those of text that belong to it."""
    name = question.name.replace("-", "_")
    head = f"# BEGIN QUESTION\nname: {name}\npoints: {number(question.points)}\ncheck_cell: false"
    if not question.checks:
        head += "\nmanual: true"
    if question.written:
        solution = text_cell(question.name, "\n".join(question.lines))
    else:
        solution = code_cell(question.name, around_solutions(question.lines, BEFORE, BEHIND))
    tests = []
    if question.checks:
        test = code_cell(f"{question.name}-check", test_of(name, question.checks))
        tests = _between(f"{question.name}-tests", "TESTS", test)
    begin, end = _raw(f"{question.name}-begin", head), _raw(f"{question.name}-end", "# END QUESTION")
    return [begin, *asked, *_between(f"{question.name}-solution", "SOLUTION", solution), *tests, end]


def test_of(name: str, checks: tuple[ast.Call, ...]) -> str:
    """The source of the test of a question: a function whose arguments are the variables that the checks are called with."""
    names = [node for call in checks for node in ast.walk(call) if isinstance(node, ast.Name)]
    made_there = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    used = {node.id for node in names} - made_there - {"check"} - set(dir(builtins))
    return TEST.format(name=name, arguments=", ".join(sorted(used)), calls=" and ".join(map(ast.unparse, checks)))


def _between(name: str, what: str, cell: dict) -> list[dict]:
    return [_raw(f"{name}-begins", f"# BEGIN {what}"), cell, _raw(f"{name}-ends", f"# END {what}")]


def _raw(name: str, source: str) -> dict:
    return text_cell(name, source, "raw")
