"""The second try of functions that call wrong ones, with stand-ins for boxes."""

from types import SimpleNamespace

import pytest

from checker.grading.judge import hidden_cases
from checker.grading.judge.hidden_cases import _better_of, programs, verdicts
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict
from checker.points.items import Check
from checker.reading.notebook import read
from checker.reading.syntax.statements import definitions
from tests.checker.grading.judge.test_hidden_cases import CUBE, SQUARE
from tests.checker.grading.judge.test_hidden_cases import notebook as notebook
from tests.checker.grading.judge.test_hidden_cases import worked as worked

RIGHT, WRONG = HiddenVerdict(True, "right."), HiddenVerdict(False, "wrong.", share=0.25)


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (
            RIGHT,
            HiddenVerdict(True, "right, once the functions that it calls are right and all has run that it may need."),
        ),
        (
            HiddenVerdict(False, "a solution, word for word", share=0.5),
            HiddenVerdict(
                False,
                "wrong.\nOnce the functions that it calls are right and all has run that it may need, it earns 50 % of its"
                " points.",
                share=0.5,
            ),
        ),
        (HiddenVerdict(False, "the same.", share=0.25), WRONG),
        (HiddenVerdict(False, "less.", share=0.0), WRONG),
    ],
)
def test_the_second_try_counts_where_it_earned_more(second, found):
    """Catches a text about other functions where they made no difference, points that a second try takes, and a word
    that came out of the box in which the solutions lie.
    """
    assert _better_of(WRONG, second) == found


def test_wrong_functions_are_tried_again_one_by_one(monkeypatch):
    """Catches a class that stops at the first right function or the first that calls nothing, and a box for several."""
    checks = {name: Check(name, name.upper()) for name in "abcd"}
    tried = []
    asked = []

    def programs_for(wrong, numbers):
        asked.append(wrong)
        named = {name: f"{name} mended" for name in "acd"} if wrong else {name: name for name in "abcd"}
        return {checks[name]: SimpleNamespace(check=checks[name], program=program) for name, program in named.items()}

    def judged(functions, grader):
        first = not tried
        tried.append([function.program for function in functions])
        return {one.check: WRONG if first and one.check.name != "a" else RIGHT for one in functions}

    monkeypatch.setattr(hidden_cases, "judge_in_boxes", judged)
    monkeypatch.setattr(hidden_cases, "_numbers", lambda functions, grader: {})
    found = verdicts(programs_for, None)
    assert tried == [["a", "b", "c", "d"], ["c mended"], ["d mended"]]
    assert [verdict.passed for verdict in found.values()] == [True, False, True, True]
    assert asked == [frozenset(), frozenset("BCD")]


CASES = HiddenCases(("square", "cube"), "", ())


@pytest.fixture
def read_programs(notebook, worked):
    """The programs of a notebook of these cells, by the names of their functions."""

    def found(*cells, wrong=frozenset(), cases=CASES):
        student = definitions(read(notebook(*cells, folder="student")))
        return {check.function: one for check, one in programs(student, worked, cases, wrong).items()}

    return found


def test_a_function_is_mended_where_that_makes_another_program_of_it(read_programs):
    """Catches a second box for the same program, for a function that calls nothing wrong, and for one that is not there."""
    cells = (SQUARE.format("return x"), CUBE.format("return x * square(x)"))
    mended = read_programs(*cells, wrong=frozenset({"square", "cube"}))
    assert list(mended) == ["cube"] and "return x * x" in mended["cube"].program.source
    for by_itself in (CUBE.format("return x"), SQUARE.format("return x")):
        assert read_programs(by_itself, wrong=frozenset({"square", "cube"})) == {}
    assert read_programs(*cells, wrong=frozenset({"cube"})) == read_programs(*cells, wrong=frozenset({"square"})) == {}


def test_a_task_of_ones_own_may_import_what_it_likes(read_programs):
    """Catches an own task that may import nothing, and an exercise that may import what its solution does not."""
    cells = (SQUARE.format("from shared.kl import k1; return k1"), CUBE.format("return x"))
    own = HiddenCases(("square", "cube"), "", (), without_reference=("square",))
    for cases, allowed in ((CASES, False), (own, True)):
        square = read_programs(*cells, cases=cases)["square"]
        assert square.has_reference is not allowed and bool(square.program.forbidden_imports) is not allowed
        assert any(name.startswith("shared.kl") for name in square.allowed_imports) is allowed
    assert list(read_programs(*cells, cases=HiddenCases(("cube",), "", ()))) == ["cube"]
