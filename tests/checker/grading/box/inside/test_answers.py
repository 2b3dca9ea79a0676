"""Calling a student's functions inside a box: what is sent of each, in this process, with a stand-in for the child."""

import base64
import importlib
import os
import pickle
import signal
import sys

import pytest

from checker.grading.box.inside import answers
from checker.grading.box.inside.answers import Answers, Clock
from checker.grading.box.inside.children import Bounds


@pytest.fixture(autouse=True)
def itself(monkeypatch):
    """The module that a notebook is to itself is this process's own again, and the alarm is off."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    handler = signal.getsignal(signal.SIGPROF)
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, handler)


def defined(*statements, **supplied):
    return answers.defined(list(statements), supplied)


def test_statements_define_what_a_notebook_would():
    """Catches names that are not there, and a class that does not find its own module."""
    variables, failed = defined(
        "import dataclasses", "@dataclasses.dataclass\nclass A:\n    x: int = b", "c = __name__", b=3
    )
    assert variables["A"]().x == 3 and failed == [] and variables["c"] == "__main__"
    assert vars(sys.modules["__main__"]) is variables


def test_a_statement_that_fails_is_tried_once_more_after_the_others():
    """Catches a right function of a notebook whose cells were run in another order."""
    variables, failed = defined("b = a + 1", "a = 1", "c = nowhere", "d = 'x'\nnowhere")
    assert variables["b"] == 2
    assert failed == [
        "`c = nowhere` raised NameError: name 'nowhere' is not defined",
        "`d = 'x'` raised NameError: name 'nowhere' is not defined",
    ]


def test_whatever_a_statement_raises_is_a_remark():
    """Catches a statement that ends the others: an exit, an error of syntax, words without end."""
    _, failed = defined("raise SystemExit", "1 +", f"raise ValueError('{'x' * 300}')", "x = 1  # " + "y" * 60)
    assert failed[0] == "`raise SystemExit` raised SystemExit: "
    assert failed[1].startswith("`1 +` raised SyntaxError: invalid syntax")
    assert failed[2] == f"`raise ValueError('{'x' * 39}...` raised ValueError: {'x' * 200}" and len(failed) == 3
    assert answers._beginning("x" * 60) == "x" * 60 and answers._beginning("x" * 61) == "x" * 57 + "..."


def test_annotations_are_not_computed_and_the_checkers_own_futures_are_not_taken():
    variables, failed = defined("def f(x: nowhere) -> nowhere:\n    return x")
    assert failed == [] and variables["f"](2) == 2
    assert variables["f"].__code__.co_filename == "<notebook>"


def test_once_the_time_is_over_only_definitions_are_run(monkeypatch):
    """Catches training at top level that takes a right function with it."""
    monkeypatch.setattr(answers, "TOP_LEVEL", 0.05)
    late = ("def f():\n    pass", "class A:\n    pass", "import os", "from os import sep", "async def g():\n    pass")
    endless = "for _ in range(10**8):\n    pass"  # as good as
    variables, failed = defined("before = 1", endless, "after = 1", *late)
    assert {"before", "f", "A", "os", "sep", "g"} <= variables.keys() and "after" not in variables
    assert failed == [
        "`for _ in range(10**8):` was stopped: what stands outside of functions has 0 s.",
        "`after = 1` was stopped: what stands outside of functions has 0 s.",
    ]
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0


def test_the_time_is_of_all_statements_together():
    busy = "import time\nend = time.process_time() + 0.03\nwhile time.process_time() < end: pass"
    clock = Clock(5.0)
    answers.defined([], {})  # sets the alarm
    assert answers._runs(busy, {}, clock) is None
    first = clock.left
    assert 4.0 < first < 4.99
    answers._runs(busy, {}, clock)
    assert clock.left < first - 0.01 and answers.TOP_LEVEL == 5.0
    with pytest.raises(answers.TooLong):
        answers._too_long(1, 2)
    assert not issubclass(answers.TooLong, Exception), "`except Exception` in a notebook would keep it"


def test_outcomes_are_numbered_and_no_more_than_were_asked():
    """Catches an answer to a case that was never asked, one of another function, and one that numbers itself."""
    sent = []
    one = Answers("key", 2, sent.append)
    for outcome in ({"value": 1, "case": 9}, [], {"value": 2}, {"value": 3}):
        one.receive({"outcome": outcome, "case": 7, "key": "other"})
    assert sent == [
        {"key": "key", "case": 0, "outcome": {"value": 1, "case": 9}}, {"key": "key", "case": 1, "outcome": {"value": 2}},
    ]  # fmt: skip
    assert one.problem == ""


def test_remarks_and_problems_are_few_and_short():
    sent = []
    one = Answers("key", 0, sent.append)
    for record in ({"problem": 3}, {"remark": []}, {"other": "x"}, {"problem": "p" * 401}):
        one.receive(record)
    assert one.problem == "p" * 400 and sent == []
    for _ in range(7):
        one.receive({"remark": "r" * 401})
    assert sent == [{"key": "key", "remark": "r" * 400}] * 5
    one.receive({"problem": "again"})
    assert one.problem == "again"


def test_what_cannot_be_written_again_stops_nobody():
    """Catches lists in lists that a submission sends, at which the box's own program would end."""

    def send(record):
        raise RecursionError

    Answers("key", 1, send).receive({"outcome": {}})


def calls(monkeypatch):
    monkeypatch.setattr(answers.exchange, "outcome_of", lambda function, case, asked: [function(case), asked["mark"]])


def test_a_function_is_called_in_each_case(monkeypatch):
    calls(monkeypatch)
    sent = []
    function = {"modules": (), "statements": ["nowhere", "def f(x):\n    return x + b"], "name": "f"}
    answers._answer(function, {"cases": [1, 2], "supplied": {"b": 10}, "mark": "m"}, sent.append)
    remark = {"remark": "`nowhere` raised NameError: name 'nowhere' is not defined"}
    assert sent == [remark, {"outcome": [11, "m"]}, {"outcome": [12, "m"]}]
    sent.clear()
    answers._answer({"modules": (), "statements": ["f = abs"], "name": "f"}, {"cases": [-1], "mark": "m"}, sent.append)
    assert sent == [{"outcome": [1, "m"]}]


def test_a_function_that_is_not_there_says_why(monkeypatch):
    sent = []
    asked = {"cases": [1]}
    answers._answer({"modules": (), "statements": ["a", "def g(): pass", "c", "b"], "name": "f"}, asked, sent.append)
    answers._answer({"modules": (), "statements": ["def g(): pass"], "name": "f"}, asked, sent.append)
    assert sent == [
        {"problem": "it cannot be defined: `b` raised NameError: name 'b' is not defined"},
        {"problem": "it cannot be defined: its statement does not make it."},
    ]


def test_a_job_calls_its_functions_one_after_the_other_in_children(monkeypatch, tmp_path):
    """Catches a function that gets another's cases or time, an end that is not told, and a folder that shadows a module."""
    calls(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, os.getcwd()])
    imported = []
    monkeypatch.setattr(importlib, "import_module", imported.append)
    bounds = []
    sent = []

    def in_a_child(work, receive, given):
        bounds.append(given)
        assert {"begun": True} in sent and imported == ["torch", "numpy"]
        work(receive)
        return "it took more than 2 s" if given.seconds == 2 else ""

    monkeypatch.setattr(answers, "in_a_child", in_a_child)
    asked = {"one": {"cases": [1, 2], "mark": "1"}, "two": {"cases": [5], "mark": "2"}}
    monkeypatch.setattr(
        answers.exchange, "outcome_of", lambda function, case, asked: {"value": function(case), "of": asked["mark"]}
    )
    twice = {
        "key": "a",
        "cases": "one",
        "seconds": 1,
        "name": "f",
        "modules": (),
        "statements": ["def f(x): return 2 * x"],
    }
    functions = [
        twice, {"key": "b", "cases": "two", "seconds": 2, "name": "f", "modules": (), "statements": ["def f(x): return 3 * x"]},
        twice | {"key": "c", "name": "g"},
    ]  # fmt: skip
    pickled = base64.b64encode(pickle.dumps(asked)).decode()
    job = {
        "imports": ["torch", "numpy"],
        "cases": pickled,
        "functions": functions,
        "limits": {"result": 99},
        "uid": 5,
        "walled": True,
    }
    answers.run(job, sent.append)
    outcome = [{"value": 2, "of": "1"}, {"value": 4, "of": "1"}, {"value": 15, "of": "2"}]
    assert sent == [
        {"begun": True},
        {"key": "a", "case": 0, "outcome": outcome[0]}, {"key": "a", "case": 1, "outcome": outcome[1]}, {"key": "a", "ended": ""},
        {"key": "b", "case": 0, "outcome": outcome[2]}, {"key": "b", "ended": "it took more than 2 s"},
        {"key": "c", "ended": "it cannot be defined: its statement does not make it."},
    ]  # fmt: skip
    assert bounds == [Bounds(seconds, 99, 5, True) for seconds in (1, 2, 1)]
    assert str(tmp_path) not in sys.path and sys.path
