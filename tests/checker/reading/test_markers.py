"""The markers of exercises: what a blank edition keeps, and every doubt about a marker as an error."""

import re

import pytest

from checker.editions.assign import blank_code, blank_markdown
from checker.reading.markers import ANSWER_BEGIN, ANSWER_END, BEGIN, END, MarkerError, walk

CODE = """import math
def one(x):
    # student code here
    # TODO: add one to each
    # of them (2 points, 3 minutes)
    y = x + 1
    return y
    # end student code
class Two:
    def two(self):
        # student code here
        # TODO: two
        return 2  # the student's code returns two
        # end student code"""
BLANK = """import math
def one(x):
    # student code here
    # TODO: add one to each
    # of them (2 points, 3 minutes)
    raise NotImplementedError
    # end student code
class Two:
    def two(self):
        # student code here
        # TODO: two
        raise NotImplementedError
        # end student code"""


def test_of_each_exercise_the_todo_stays_and_the_solution_goes():
    """Catches a line of a solution that stays, the second exercise of a cell above all, and a lost indentation."""
    assert "\n".join(blank_code(CODE.split("\n"))) == BLANK
    assert "\n".join(blank_code(BLANK.split("\n"))) == BLANK, "a blank edition can be blanked again"


@pytest.mark.parametrize(
    ("marker", "shown"),
    [
        ("<!-- student answer -->", ["Your answer here."]),
        ("<!-- student answer: 3 points -->", ["*Worth 3 points.*", "", "Your answer here."]),
        ("  <!-- student answer: 1 point -->", ["*Worth 1 point.*", "", "Your answer here."]),
        ("<!-- student answer: 1.5 points, further -->", ["*Worth 1.5 points, further.*", "", "Your answer here."]),
    ],
)
def test_of_an_answer_only_what_it_is_worth_stays(marker, shown):
    """Catches an answer that is handed out, and "1 points"."""
    lines = ["**Why?**", marker, "Because.", "And so on.", "<!-- end student answer -->", "The end."]
    assert blank_markdown(lines) == ["**Why?**", *shown, "The end."]


def test_each_line_of_a_solution_has_its_place_in_it():
    """Catches places that go on from one exercise to the next, and a marker that counts as the solution's own line."""
    lines = ["a", BEGIN, "b", "c", "d", END, "e", BEGIN, "f", END, "g"]
    assert list(walk(lines, BEGIN, END, "")) == [
        ("a", False, 0),
        (BEGIN, False, 0),
        ("b", True, 0),
        ("c", True, 1),
        ("d", True, 2),
        (END, False, 0),
        ("e", False, 0),
        (BEGIN, False, 0),
        ("f", True, 0),
        (END, False, 0),
        ("g", False, 0),
    ]


TODO = "# TODO: x"
WRONG = {
    "nested": ([BEGIN, TODO, "  " + BEGIN, END], ["line 3", "line 1", "Close that one first"]),
    "stray": (["x = 1", END], ["line 2", f"`{END}` without a `{BEGIN}`"]),
    "empty": (["x = 1", BEGIN, END], ["line 3", "line 2", "is empty"]),
    "open": ([BEGIN, TODO, "x = 1"], ["line 1", f"is not closed by `{END}`"]),
    "without a TODO": ([BEGIN, "    return 1", END], [f"after `{BEGIN}` must be `# TODO: ...`", "'return 1'"]),
}


@pytest.mark.parametrize("lines, said", WRONG.values(), ids=WRONG)
def test_a_doubtful_marker_in_code_is_an_error_that_says_where(lines, said):
    """Catches a solution that a slip in a marker would leave in the blank edition, and an author who must search for it."""
    with pytest.raises(MarkerError) as error:
        blank_code(lines, "Cell 4")
    assert all(words in str(error.value) for words in ["Cell 4", *said])


@pytest.mark.parametrize(
    "line",
    [
        "# student code",
        "  # Student code here",
        "# students' code here",
        "#student's code here",
        "# end of student code",
        "# end students code",
        "# student code here.",
        "# END STUDENT CODE",
        "# End student",
        "<!-- student answer -->",
    ],
)
def test_a_misspelt_marker_in_code_is_an_error(line):
    """Catches a begin that is read as a comment: all below it would be handed out."""
    with pytest.raises(MarkerError, match="^Cell 4, line 2: .*looks like a marker") as error:
        blank_code(["def f():", line, "    return 1"], "Cell 4")
    assert repr(line.strip()) in str(error.value)


@pytest.mark.parametrize(
    "line",
    [
        "<!-- student answers -->",
        "<!-- Student Answer -->",
        "<!-- student answer: three points -->",
        "<!-- student answer: 3 points, more -->",
        "<!-- end of student answer -->",
        "<!-- end student anser -->",
        "<!--student answer-->",
    ],
)
def test_a_misspelt_marker_in_text_is_an_error(line):
    with pytest.raises(MarkerError, match=rf"Cell 8, line 2: '{re.escape(line)}' looks like a marker"):
        blank_markdown(["**Why?**", line, "Because."], "Cell 8")


def test_errors_in_text_say_where():
    with pytest.raises(MarkerError, match=rf"^Cell 8, line 1: .* is not closed by `{ANSWER_END}`"):
        blank_markdown([ANSWER_BEGIN, "Because."], "Cell 8")
    with pytest.raises(MarkerError, match=rf"^line 2: `{ANSWER_END}` without"):
        blank_markdown(["Because.", ANSWER_END])


def test_words_about_students_in_running_text_and_behind_code_are_no_markers():
    """Catches a notebook that cannot be handed out since a sentence speaks of its students."""
    assert blank_code(["x = 1  # student code starts below"]) == ["x = 1  # student code starts below"]
    assert blank_markdown(["Each student writes code."]) == ["Each student writes code."]
