"""The worth of an exercise is the same number in the worked notebook, in the blank edition and in grading."""

import json
from pathlib import Path

import pytest

from checker.editions.assign import blank
from checker.reading.exercises import exercises, minutes, titles, total
from checker.reading.todos import Todo, todo_at, todos_in

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))


def notebook(*cells: tuple[str, str]) -> dict:
    return {
        "cells": [
            {"id": f"c{n}", "cell_type": kind, "source": text, "metadata": {}} for n, (kind, text) in enumerate(cells)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


ANSWER = "**Success.** Did it help?\n\n<!-- student answer: {} -->\nYes.\n<!-- end student answer -->"
SOLUTION = "def f():\n    # student code here\n    # TODO: return two{}\n    return 1 + 1 + 0\n    # end student code"


@pytest.mark.parametrize(
    ("cell", "worth", "minutes"),
    [
        (("code", SOLUTION.format(" (3 points, 10 minutes)")), 3, 10),
        (("code", SOLUTION.format(" (1 point, 1 minute)")), 1, 1),
        (("code", SOLUTION.format("\n    # (3 points,\n    # 10 minutes)")), 0, 0),
        (("code", SOLUTION.format(" (3 points, 10 minutes, further)")), 3, 10),
        (("code", SOLUTION.format(" (1.5 points)")), 1.5, 0),
        (("code", SOLUTION.format("")), 0, 0),
        (("markdown", ANSWER.format("2 points")), 2, 0),
        (("markdown", ANSWER.format("2 points, further")), 2, 0),
        (("markdown", ANSWER.format("1 point")), 1, 0),
        (("markdown", ANSWER.format("2.5 points")), 2.5, 0),
    ],
)
def test_a_blank_edition_is_worth_what_its_worked_notebook_is(cell, worth, minutes):
    """Points that are lost with the solution, or read by one program and not by another."""
    content = notebook(("markdown", "# Cell 0"), cell)
    for cells in (content["cells"], blank(content, "notebooks/x.ipynb")["cells"]):
        (exercise,) = exercises(cells)
        assert (exercise.points, exercise.minutes, exercise.written) == (worth, minutes, cell[0] == "markdown")
        assert exercise.what in ("return two", "Success")
        assert exercise.further == ("further" in cell[1])


def test_a_todo_is_read_whole_and_ends_with_its_worth():
    """Catches words or points that are lost where a TODO goes on in a further line, and a solution's comment read as one."""
    lines = ["# TODO: return", "# two (of x)", "# for all (3 points, 10 minutes)", "# the first (1 point)", "x = 1"]
    assert todo_at(lines) == Todo(tuple(lines[:3]), "return two (of x) for all", 3, 10)
    assert todo_at(["# TODO: return two", "# and add them", "x = 1"]) == Todo(("# TODO: return two",), "return two")
    assert todo_at(["# TODO: two", "# end student code", "# x (3 points)"]).points == 0
    assert todo_at(["x = 1", "# TODO: two"]) is None
    assert [todo.what for todo in todos_in("\n".join([*lines, *lines]))] == ["return two (of x) for all"] * 2


def test_a_student_sees_what_an_answer_is_worth_and_where_to_write_it():
    """A marker that blanks the answer and takes the points away with it, or shows the answer."""
    shown = blank(notebook(("markdown", ANSWER.format("2 points"))), "notebooks/x.ipynb")["cells"][0]["source"]
    assert shown == "**Success.** Did it help?\n\n*Worth 2 points.*\n\nYour answer here."


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_courses_notebooks_are_worth_the_same_as_their_blank_editions(path):
    """An exercise added to one of the two only."""
    worked = json.loads(path.read_text(encoding="utf-8"))["cells"]
    student = json.loads((path.parent / "student" / path.name).read_text(encoding="utf-8"))["cells"]
    assert [(e.key, e.points) for e in exercises(worked)] == [(e.key, e.points) for e in exercises(student)]
    assert total(exercises(worked)) > 0


def test_an_answer_ends_where_the_next_question_begins():
    """Catches an answer cut at the first words in bold that a student wrote."""
    text = "**One.** Why?\n\n*Worth 2 points.*\n\n**Mine.** Because.\n\n**Also.** So.\n\n**Two.** How?\n\n*Worth 1 point.*\n\nThus."
    first, second = exercises(notebook(("markdown", text))["cells"])
    assert first.filled_in == "**Mine.** Because.\n\n**Also.** So." and second.filled_in == "Thus."


def test_the_minutes_of_the_core_and_of_what_goes_beyond_it_are_told_apart():
    """Catches a chapter that seems to take as long as all that may be done with it."""
    worth = (" (3 points, 10 minutes)", " (1 point, 5 minutes)", " (3 points, 25 minutes, further)")
    found = exercises(notebook(*(("code", SOLUTION.format(one)) for one in worth))["cells"])
    assert (minutes(found, further=False), minutes(found, further=True)) == (15, 25)


def test_of_an_exercise_in_code_all_up_to_its_end_is_kept():
    """Catches a solution without its first or last line, the TODO of a neighbour, an exercise lost at the end of a cell."""
    text = "# student code here\n# TODO: one (1 point)\na = 1\nb = 2\n# end student code\nc = 3\n# student code here\nd = 4"
    first, second = exercises([{"cell_type": "code", "id": "x", "source": text}])
    assert (first.key, second.key) == ("x/1", "x/2") and first.wording == ""
    assert (first.filled_in, second.filled_in) == ("# TODO: one (1 point)\na = 1\nb = 2", "d = 4")
    assert (second.what, second.points, second.minutes, second.further) == ("", 0, 0, False)


def test_a_strangers_cells_are_read_whatever_their_kind():
    """Catches an error at a kind that is no text, or that holds no exercise, and a key of a cell without an id."""
    cells = [{"cell_type": kind, "source": SOLUTION.format("")} for kind in (["code"], "raw", None, "code")]
    assert [exercise.key for exercise in exercises(cells)] == ["/1"]


def test_the_questions_of_a_cell_are_counted_and_kept_in_full():
    """Catches the text above the first question in its wording, a question's sentence lost, one key for two answers."""
    text = "Read this.\n\n**One.** Why?\nSay it.\n\n*Worth 2 points.*\nSo.\n\n**Two X.**\n\n*Worth 1 point, further.*\nThus."
    first, second = exercises([{"cell_type": "markdown", "id": "x", "source": text}])
    assert (first.key, first.what, first.wording) == ("x/answer 1", "One", "**One.** Why?\nSay it.")
    assert (second.key, second.what, second.wording) == ("x/answer 2", "Two X", "**Two X.**")
    assert (first.filled_in, second.filled_in) == ("So.", "Thus.")


def test_an_answer_without_a_question_is_worth_its_points():
    """Catches a question that is made up, and an error where a second worth follows without a title."""
    text = "Say why.\n*Worth 2 points.*\nSo.\n*Worth 1 point.*\nThus."
    found = exercises([{"cell_type": "markdown", "id": "x", "source": text}])
    assert [(one.what, one.wording, one.points, one.filled_in) for one in found] == [
        ("", "", 2, "So."),
        ("", "", 1, "Thus."),
    ]


def test_titles_are_those_of_markdown_alone():
    """Catches the title of a question that is taken for words of a student's, and code that is read as one."""
    bold = "**One.** Why?\nnot **this**\n  **Two**"
    cells = [{"cell_type": kind, "source": bold.replace("One", kind)} for kind in ("markdown", "code", "raw")]
    assert titles(cells) == {"markdown", "Two"}
