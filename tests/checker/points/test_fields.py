"""Fields of the form: one for all that no check can judge, with its worth and what the student put there."""

import json

import pytest

from checker.pages.rendering import render
from checker.points.fields import Field, fields, without_a_check
from checker.reading.notebook import notebook_of
from tests.checker.conftest import code, markdown

EXERCISE = "def {name}():\n    # student code here\n    # TODO: do {name} ({points} points)\n    {solution}\n    # end student code"
ANALYSIS = (
    "# Cell 8: Analysis\n\n**Success.** Did it help?\n\n*Worth 3 points.*\n\nIt did, by 0.2.\n\n"
    "**What next?** Say.\n\n*Worth 2.5 points.*\n\nMore seeds."
)


def notebook(*cells):
    cells = [cell | {"id": f"cell-{number}"} for number, cell in enumerate(cells)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


@pytest.fixture
def handed_in():
    return notebook(
        code("# Cell 4: Reward function\nfrom shared import check"),
        code(EXERCISE.format(name="checked", points=4, solution="return 1")),
        code("check.checked(checked)"),
        code(EXERCISE.format(name="proposal", points=2, solution="return 7")),
        markdown(ANALYSIS),
    )


def own(content):
    return fields(without_a_check(notebook_of(content), content), content)


def test_answers_and_exercises_without_a_check_have_a_field(handed_in):
    """Catches an exercise worth two points that nobody checks and nobody can give points for."""
    proposal, success, following = own(handed_in)
    assert (proposal.name, proposal.points, proposal.anchor) == ("Exercise: proposal", 2.0, "cell-3")
    assert "return 7" in proposal.answer and not proposal.written
    assert (success.name, success.points, success.section) == ("Question: Success", 3.0, "Cell 8: Analysis")
    assert (success.answer, following.answer) == ("It did, by 0.2.", "More seeds.")
    assert (following.name, following.points) == ("Question: What next?", 2.5)


def test_two_questions_of_one_name_have_two_fields(handed_in):
    """Catches the points of one answer put onto another that is headed alike."""
    handed_in["cells"][4]["source"] = ANALYSIS.replace("What next?", "Success")
    assert [field.name for field in own(handed_in)][1:] == ["Question: Success", "Question: Success (2)"]


def test_two_exercises_with_one_wording_keep_their_own_answers(handed_in):
    """Catches the first answer shown, and given its points, in the field of the second."""
    exercise = EXERCISE.replace("def {name}", "def {other}")
    for other, solution in (("left", "return 1"), ("right", "return 2")):
        handed_in["cells"].append(
            code(exercise.format(other=other, name="half", points=1, solution=solution)) | {"id": other}
        )
    found = own(handed_in)[-2:]
    assert [(field.anchor, field.answer.splitlines()[-1]) for field in found] == [
        ("cell-5", "return 1"),
        ("cell-6", "return 2"),
    ]


def test_the_key_says_what_is_worth_what_and_the_notebook_what_was_answered(handed_in):
    """Catches points that a student wrote into the notebook, and an answer lost with the ids of the cells."""
    asked = without_a_check(notebook_of(handed_in), handed_in)
    handed_in["cells"][4]["source"] = ANALYSIS.replace("Worth 3", "Worth 90")
    for cell in handed_in["cells"]:
        del cell["id"]
    handed_in["cells"].insert(0, markdown("Mine."))
    found = fields(asked, handed_in)
    assert [(field.points, field.anchor) for field in found] == [(2.0, "cell-4"), (3.0, "cell-5"), (2.5, "cell-5")]
    assert "return 7" in found[0].answer and found[2].answer == "More seeds."


def test_what_is_gone_keeps_its_field(handed_in):
    """Catches a question that is not graded because its cell was deleted."""
    asked = without_a_check(notebook_of(handed_in), handed_in)
    del handed_in["cells"][4]
    assert [(field.name, field.anchor) for field in fields(asked, handed_in)][1:] == [
        ("Question: Success", ""),
        ("Question: What next?", ""),
    ]


def test_a_joke_is_no_field(handed_in):
    handed_in["cells"][4]["source"] = ANALYSIS.replace("Worth 3", "Worth 3000")
    assert [field.name for field in own(handed_in)] == ["Exercise: proposal", "Question: What next?"]


@pytest.mark.parametrize(("worth", "asked"), [("0", False), ("0.5", True), ("1", True), ("100", True), ("101", False)])
def test_what_is_worth_something_and_no_joke_is_asked_about(handed_in, worth, asked):
    """Catches a field for nothing, and none for one point or for a hundred."""
    handed_in["cells"][4]["source"] = ANALYSIS.replace("Worth 3", f"Worth {worth}")
    assert ("Question: Success" in [field.name for field in own(handed_in)]) is asked


def test_a_field_says_what_was_asked_and_what_was_answered(handed_in):
    """Catches code that is read as prose, prose as code, a question without its words, and a deleted one with others'."""
    handed_in["cells"][4]["source"] = ANALYSIS.replace("by 0.2", "[by 0.2](http://somewhere)")
    found = own(handed_in)
    code_of_two = "# TODO: do proposal (2 points)\nreturn 7"
    assert (found[0].answer, found[0].wording, found[0].written) == (code_of_two, "", False)
    assert (found[1].answer, found[1].written) == ("It did, by 0.2.", True)
    assert found[1].wording == "**Success.** Did it help?"
    asked = without_a_check(notebook_of(handed_in), handed_in)
    del handed_in["cells"][4]
    assert fields(asked, handed_in)[1] == Field("Question: Success", 3.0, "Cell 8: Analysis", None, "", False, "")


def test_the_form_has_the_fields_with_their_worth(handed_in, save, tmp_path):
    """Catches half a point that cannot be given, and an answer that the grader has to look for."""
    page = render(save(handed_in), tmp_path / "pages", "builtin").read_text(encoding="utf-8")
    form = page.split('id="grades"')[1]
    for name, worth in (("Exercise: proposal", "2"), ("Question: Success", "3"), ("Question: What next?", "2.5")):
        assert f'max="{worth}" step="any" data-criterion="{name}"' in form
    assert "Exercise: checked" not in form and "It did, by 0.2." in form and "return 7" in form


def test_in_grading_the_key_decides_what_is_by_hand(handed_in, save, tmp_path):
    """Catches a student's own check, or a worth of their own, that takes a field away from the instructor or adds one."""
    asked = without_a_check(notebook_of(handed_in), handed_in)
    cheat = json.loads(json.dumps(handed_in))
    cheat["cells"].append(code("check.proposal(proposal)") | {"id": "own"})
    page = render(save(cheat), tmp_path / "pages", "builtin", by_hand=asked).read_text(encoding="utf-8")
    assert 'data-criterion="Exercise: proposal"' in page
