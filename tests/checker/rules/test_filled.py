"""The rules on what was left blank: the lines that they name, and what may stay so."""

import pytest

from checker.rules.filled import beyond_the_core
from tests.checker.conftest import code, markdown

CORE = "# student code here\n# TODO: the loss (2 points, 5 minutes)\n{}\n# end student code"
FURTHER = CORE.replace("minutes)", "minutes, further)")


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (FURTHER, {1, 2, 3, 4}),
        (CORE, set()),
        (f"x = 1\n{FURTHER}\ny = 2\n{CORE}\nz = 3", {2, 3, 4, 5, 6}),
        (f"{CORE}\n{FURTHER}\ny = 2", {5, 6, 7, 8, 9}),
        ("  # student code here\n# TODO: more (1 point, further)\npass", {1, 2, 3}),
        ("# student code here\nx = 1", set()),
        (
            f"# student code here\n# TODO: of many lines\n{'# and more words' + chr(10)}# (1 point, further)\npass",
            {1, 2, 3, 4, 5},
        ),
        ("a\n*Worth 2 points, further.*\nYour answer here.\n*Worth 1 point.*\nYour answer here.", {2, 3}),
        ("*Worth 1 point.*\nYour answer here.\n *Worth 0.5 points, further.* \n**b**\nYour answer here.", {3, 4, 5}),
        ("*Worth 1 point, further.* and more", set()),
    ],
)
def test_an_exercise_beyond_the_core_goes_on_to_the_next_one(source, lines):
    """Catches an exercise of the core that may stay blank since it stands below a further one, or above it."""
    assert beyond_the_core(source) == lines


def test_each_blank_of_a_cell_is_told_with_its_line(good, told):
    good["cells"][4]["source"] += "\n\nraise NotImplementedError\n  raise  NotImplementedError('TODO: x')  # so"
    findings = told("F001")
    assert [finding.found for finding in findings] == [f"an exercise is not filled in (line {line})" for line in (4, 5)]
    assert all(finding.cell == 4 and finding.advice == "Replace the line by your code." for finding in findings)


@pytest.mark.parametrize(
    "line",
    [
        "# raise NotImplementedError",
        "x = 1  # raise NotImplementedError",
        "raise NotImplementedErrorToo",
        "raise ValueError",
    ],
)
def test_another_line_is_no_blank(good, told, line):
    good["cells"][4]["source"] += f"\n{line}"
    assert told("F001") == []


def test_a_further_exercise_may_stay_blank_and_one_below_may_not(good, told):
    blank = "raise NotImplementedError"
    good["cells"][4]["source"] = "\n".join([FURTHER.format(blank), CORE.format(blank)])
    assert [finding.found[-8:] for finding in told("F001")] == ["(line 7)"]


ANSWERS = [
    "Your answer here.",
    "  your answer here",
    "*Your answer here.*",
    "_Your Answer Here_",
    "**Your answer here.**"[1:-1],
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_unwritten_answer_is_told(good, told, answer):
    """Catches one way in which the line of a blank answer is written that is not known."""
    good["cells"][8]["source"] += f"\n{answer} \nMore."
    (finding,) = told("F002")
    assert finding.cell == 8 and finding.found.startswith("1 question is not answered (Your answer")
    assert finding.advice == "Write your answer in its place."


def test_unwritten_answers_of_a_cell_are_counted(good, told):
    """Catches three questions told where the page's form has four fields: one of them is beyond the core."""
    good["cells"][8]["source"] += (
        "\n*Worth 1 point, further.*\nYour answer here.\n*Worth 1 point.*\n" + "Your answer here.\n" * 2
    )
    (finding,) = told("F002")
    assert finding.found == (
        "2 questions are not answered (Your answer here.), and 1 beyond the core, which may stay so"
    )


def test_words_of_an_answer_are_one(good, told):
    """Catches an answer that speaks of the line, and a comment in code, told as blank; and the cells below passed over."""
    good["cells"][1]["source"] += "\nWhere it says: Your answer here. I wrote mine."
    good["cells"][4]["source"] += "\n'''\nYour answer here.\n'''"
    assert told("F002") == []
    good["cells"].append(markdown("Your answer here."))
    assert [finding.cell for finding in told("F002")] == [9]


@pytest.mark.parametrize("body", ["", "pass", "...", "# only words", "\n  pass\n\n  # words\n..."])
def test_an_exercise_without_code_is_told_with_its_line(good, told, body):
    """Catches one way of writing nothing that passes for code."""
    good["cells"][4]["source"] += "\n" + CORE.format(body) + "\ny = 2"
    (finding,) = told("F003")
    assert (finding.cell, finding.found) == (
        4,
        "an exercise is empty (line 3)",
    ) and "two marker lines" in finding.advice


@pytest.mark.parametrize("body", ["x = 1", "pass\nx = 1", "return None", "passed", "...and"])
def test_an_exercise_with_code_is_filled(good, told, body):
    good["cells"][4]["source"] += "\n" + CORE.format(body)
    assert told("F003") == []


def test_an_exercise_that_is_not_closed_goes_to_the_end(good, told):
    """Catches a lost marker that hides an empty exercise, and one that takes the code of the next one for its own."""
    good["cells"][4]["source"] += "\n  #student code here \n# TODO: x\npass"
    assert [finding.found[-8:] for finding in told("F003")] == ["(line 3)"]
    good["cells"][4]["source"] += "\nx = 1"
    assert told("F003") == []
    good["cells"][4]["source"] += "\n" + "\n".join([CORE.format("pass"), CORE.format("y = 1"), CORE.format("")])
    assert [finding.found[-9:].strip() for finding in told("F003")] == ["(line 7)", "(line 15)"]


def test_a_further_exercise_may_be_empty(good, told):
    good["cells"].insert(5, code(FURTHER.format("pass") + "\n" + CORE.format("pass"), count=None))
    assert [(finding.cell, finding.found[-8:]) for finding in told("F003")] == [(5, "(line 5)")]
