"""Boxes of functions: the job that each is given, and the words of a verdict."""

import pytest

from checker.grading.box.isolation import Outcome
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Isolation
from checker.grading.judge import boxed_functions
from checker.grading.judge.boxed_functions import BoxedFunction, FinishedBox, Grader, judge_in_boxes, verdict_from_box
from checker.grading.judge.reference_process import HiddenVerdict
from checker.points.items import Check
from checker.reading.slicing.slices import Slice
from tests.checker.grading.judge.test_hidden_cases import PlainKey

SQUARE = BoxedFunction(Check("square", "my_square"), Slice(statements=("def my_square(x): return x * x",)), frozenset())
ALL = tuple({"key": "0", "case": number, "outcome": {"value": number**2}} for number in range(1, 6))


def test_the_job_of_a_box_is_what_its_functions_need_and_no_more(monkeypatch):
    """Catches a function under another one's name or cases, a box without time, and a file that nobody may import."""
    monkeypatch.setattr(boxed_functions, "patience", lambda: 1.0)
    given = []

    def run_submission(box, job):
        given.append((box, job))
        return Outcome((), "", 0.1, begun=True, finished=True)

    monkeypatch.setattr(boxed_functions, "run_submission", run_submission)
    cube = BoxedFunction(Check("cube", "my_cube"), Slice(statements=("a", "b")), frozenset({"shared.kl"}))
    for wall in (600.0, 70.0):
        judge_in_boxes([SQUARE, cube], Grader(PlainKey(), Isolation("none"), Limits(wall=wall, memory=9)))
    boxes = [box for box, _ in given]
    assert [box.limits for box in boxes] == [Limits(wall=80.0, memory=9)] * 2 + [Limits(wall=70.0, memory=9)] * 2
    jobs = {function["name"]: (job, function) for _, job in given for function in job["functions"]}
    for name, check, statements in (
        ("my_square", "square", SQUARE.program.statements),
        ("my_cube", "cube", ("a", "b")),
    ):
        job, function = jobs[name]
        about = {"key": "0", "cases": check, "statements": statements, "modules": (), "name": name, "seconds": 20.0}
        assert function == about
        assert (job["do"], job["imports"]) == ("answers", ("torch", "shared.exercises.calling"))
        assert job["cases"] == PlainKey().cases([check]).pickled
    shown = {job["functions"][0]["name"]: {inside: outside for outside, inside in box.shown} for box, job in given}
    assert "shared/kl.py" in shown["my_cube"] and "shared/kl.py" not in shown["my_square"]
    assert all(outside == ROOT / inside for files in shown.values() for inside, outside in files.items())
    assert "checker/grading/box/inside/answers.py" in shown["my_square"]


@pytest.mark.parametrize(("load", "times"), [(0.5, 1.0), (8.0, 1.0), (24.0, 3.0), (900.0, 5.0)])
def test_a_busy_machine_takes_no_points(load, times, monkeypatch):
    """Catches a right function that is ended since eight times as many processes wait as there are processors."""
    monkeypatch.setattr(boxed_functions.os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr(boxed_functions.os, "cpu_count", lambda: 8)
    given = []

    def run_submission(box, job):
        given.append((box.limits.wall, job["functions"][0]["seconds"]))
        return Outcome((), "", 0.1, begun=True, finished=True)

    monkeypatch.setattr(boxed_functions, "run_submission", run_submission)
    judge_in_boxes([SQUARE], Grader(PlainKey(), Isolation("none"), Limits(wall=70.0)))
    assert given == [(70.0 * times, 20.0 * times)]


def test_what_needs_no_box_gets_none():
    """Catches a program that cannot be cut out, or that imports its answer, run all the same."""
    broken = BoxedFunction(Check("a", "a"), Slice(problem="`a` is not defined."), frozenset())
    copied = BoxedFunction(Check("b", "b"), Slice(forbidden_imports=("shared.kl", "shared.losses")), frozenset())
    found = judge_in_boxes([broken, copied], Grader(PlainKey(), Isolation("none"), Limits()))
    assert found[broken.check] == HiddenVerdict(False, "`a` is not defined.", mistakes=(boxed_functions.NOT_THERE,))
    text = "`b` uses shared.kl, shared.losses, which this exercise does not allow: it is to be written, not imported."
    assert found[copied.check] == HiddenVerdict(
        False, text, finding=True, mistakes=(boxed_functions.IMPORTED_SOLUTION,)
    )


def test_a_verdict_is_short_and_can_be_printed():
    """Catches a page of megabytes, and a terminal that is rewritten, by the words of a student's error."""
    text = judged({"key": "0", "ended": "\x1b[2J\u202e" + "x" * 100_000}).text
    assert len(text) < 5_000 and text.isprintable() and text.startswith("\N{REPLACEMENT CHARACTER}[2J")


def judged(*records, program=Slice(), stopped="", finished=True):
    function = BoxedFunction(SQUARE.check, program, frozenset())
    outcome = Outcome(records, stopped, 0.1, begun=True, finished=finished)
    return verdict_from_box(function, FinishedBox([function], outcome), PlainKey())


@pytest.mark.parametrize(
    ("records", "how", "text"),
    [
        (({"key": "0", "ended": "too slow"}, {"key": "0", "ended": "later"}), {}, "too slow; it gave 0 of 5 answers."),
        (({"key": "0", "ended": ""},), {"stopped": "full"}, "it gave 0 of 5 answers."),
        ((), {"stopped": "full", "finished": False}, "full; it gave 0 of 5 answers."),
        (
            (),
            {"finished": False},
            "it ended the box it ran in, and did so again alone; it gave 0 of 5 answers.",
        ),
        ((), {}, "it gave 0 of 5 answers."),
        (({"key": "1", "ended": "another's"}, *ALL[1:2]), {}, "it gave 3 of 5 answers."),
        ((*ALL[:4], {"key": "0", "case": 0, "outcome": {"value": 0}}), {}, "wrong: [0, 1, 4, 9, 16]"),
    ],
)
def test_the_reason_of_the_end_stands_before_missing_answers_alone(records, how, text):
    """Catches a limit named to who was wrong in time, another function's end, and an answer that takes another's place."""
    assert judged(*records, **how).text == text


def test_warnings_stand_below_what_is_not_right():
    """Catches a right function that is warned, more lines than anybody reads, and a remark that is lost."""
    answers = [{"key": "0", "case": number, "outcome": {"value": (number + 1) ** 2}} for number in range(5)]
    remarks = [{"key": "0", "remark": f"remark {number}"} for number in range(3)]
    program = Slice(which_definition="The last counts.", missing=("first",), left_out=("second",))
    right = judged(*answers, *remarks, program=program)
    assert right == HiddenVerdict(True, "right\nThe last counts.", share=1.0)
    wrong = judged(*remarks, program=program)
    lines = ["it gave 0 of 5 answers.", "The last counts.", "first", "second", "remark 0", "remark 1"]
    assert wrong.text.split("\n") == lines
