"""Points by hidden cases: what a notebook shows does not count, what its functions give does.

The judge here is a small stand-in for `checker.grading.apart.key`, without torch: cases and values are plain numbers. It
does not show the exercises of the course; `test_course.py` does.
"""

import base64
import json
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest

from checker.grading import hidden
from checker.grading.apart import exchange
from checker.grading.boxes import Isolation, box
from checker.grading.functions import definitions
from checker.grading.hidden import Asked, Key, Verdict, verdicts
from checker.grading.isolation import BoxFailed
from checker.grading.limits import Limits
from checker.grading.one import _earned
from checker.grading.sheets import read_sheet, sheet_for
from checker.notebook import Unreadable, parse, read
from tests.checker.conftest import code

SQUARE = "def square(x):\n    # student code here\n    # TODO: x times x (2 points, 5 minutes)\n    {}\n    # end student code"
CUBE = "def cube(x):\n    # student code here\n    # TODO: with square (3 points, 5 minutes)\n    {}\n    # end student code"
ABOUT = {"square": lambda x: x * x, "cube": lambda x: x**3}


class PlainKey:
    """Knows squares and cubes; draws its cases from the seed."""

    def __init__(self, seed=1):
        self.numbers = [seed + step for step in range(5)]

    def cases(self, checks):
        asked = {check: {"cases": self.numbers} for check in set(checks) & set(ABOUT)}
        return Asked(tuple(sorted(asked)), base64.b64encode(pickle.dumps(asked)).decode(), ())

    def judge(self, check, outcomes):
        given = [None if outcome is None else outcome.get("value") for outcome in outcomes]
        expected = [ABOUT[check](number) for number in self.numbers]
        if len(given) < len(expected):
            return Verdict(False, f"it gave {len(given)} of {len(expected)} answers.")
        share = sum(one == other for one, other in zip(given, expected)) / len(expected)
        return Verdict(given == expected, "right" if given == expected else f"wrong: {given}", share=share)


@pytest.fixture(autouse=True)
def without_torch(monkeypatch, tmp_path):
    """The box calls functions by plain calls: a copy of the checker whose exchange knows no exercises."""
    monkeypatch.setattr(hidden, "IMPORTED", ())
    monkeypatch.setattr(hidden.modules, "CALLING", ())
    root = tmp_path / "project"
    root.mkdir()
    import shutil

    shutil.copytree(hidden.ROOT / "checker", root / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    plain = "def outcome_of(function, case, asked):\n    try:\n        return {'value': function(case)}\n    except Exception as error:\n        return {'raised': str(error)}\n"
    (root / "checker" / "grading" / "apart" / "exchange.py").write_text(plain)
    monkeypatch.setattr(hidden, "ROOT", root)


@pytest.fixture
def notebook(tmp_path):
    """A notebook with these cells below a folder, and its path."""

    def make(*sources, name="maths.ipynb", folder="notebooks"):
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        cells = [code(source) | {"id": f"cell-{number}"} for number, source in enumerate(sources)]
        path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
        return path

    return make


@pytest.fixture
def sheet(notebook):
    cells = (
        SQUARE.format("return x * x"),
        "check.square(square)",
        CUBE.format("return x * square(x)"),
        "check.cube(cube)",
    )
    return read_sheet(notebook(*cells))


@pytest.fixture
def judged(notebook, sheet, isolation):
    """What the checks say of a student's notebook, by their names."""

    def judge(*sources, seed=1, limits=Limits(wall=60), key=PlainKey):
        student = definitions(read(notebook(*sources, folder="student")))
        found = verdicts(student, sheet, key(seed), isolation, limits)
        return {check.name: verdict for check, verdict in found.items()}

    return judge


def test_right_functions_pass(judged):
    """Catches a box in which nothing can be right."""
    found = judged(SQUARE.format("return x ** 2"), CUBE.format("return square(x) * x"))
    assert {name: one.passed for name, one in found.items()} == {"square": True, "cube": True}


CHEATS = {
    "a patched check": ["check = type('Check', (), {'__getattr__': lambda *a: print})()", SQUARE.format("return 1")],
    "the answers of the visible cases": [SQUARE.format("return {2: 4, 3: 9}.get(x, 0)")],
    "constants": [SQUARE.format("return 4")],
    "an object that equals everything": [
        "class Yes:\n    def __eq__(self, other): return True",
        SQUARE.format("return Yes()"),
    ],
    "the judge looked for in memory": [
        SQUARE.format(
            "import gc\n    found = [o for o in gc.get_objects() if callable(o) and getattr(o, '__name__', '') == 'square']"
            "\n    others = [o for o in found if o.__code__ is not square.__code__]\n    return others[0](x)"
        )
    ],
    "a written record of one's own": [
        SQUARE.format(
            "import os, json\n    os.write(3, json.dumps({'key': '0', 'passed': True}).encode() + b'\\n')\n    return 0"
        )
    ],
    "the reference, imported by its name in disguise": [
        SQUARE.format(
            "import importlib\n    return importlib.import_module('sha' + 'red.advantages').group_advantages(x)"
        )
    ],
}


@pytest.mark.parametrize("cheat", CHEATS, ids=str)
def test_cheats_earn_nothing(cheat, judged):
    """Catches a grader that believes the notebook: all of these print a tick there, or could."""
    found = judged(*CHEATS[cheat], seed=100)["square"]
    assert not found.passed and found.earned == 0


def test_an_endless_loop_costs_one_question(judged, monkeypatch):
    """Catches one time-out that takes the points of every other exercise with it."""
    monkeypatch.setattr(hidden, "SECONDS", 2.0)
    found = judged(SQUARE.format("return x * x"), CUBE.format("while True: pass"))
    assert found["square"].passed
    assert "it took more than 2 s" in found["cube"].text


def test_an_exit_is_not_all_passed(judged):
    """Catches a dead process counted as one without complaints."""
    found = judged(SQUARE.format("import os; os._exit(0)"), CUBE.format("return x ** 3"))
    assert not found["square"].passed and "it ended the process it ran in" in found["square"].text
    assert found["cube"].passed


def test_a_box_that_is_killed_is_nobodys_0(judged):
    """Catches a machine out of memory, which kills boxes, taken for an answer that is wrong."""
    with pytest.raises(BoxFailed, match="ended before its work did"):
        judged(SQUARE.format("import os; os.kill(os.getppid(), 9)"), CUBE.format("return x ** 3"))


def test_a_box_that_is_refused_is_nobodys_0(judged, isolation, monkeypatch):
    """Catches a box that worked when it was tried and is refused later: 0 points for all functions at once."""
    monkeypatch.setattr(hidden, "box", lambda of, *rest: box(Isolation("bwrap", "/bin/false"), *rest))
    with pytest.raises(BoxFailed, match="could not be started"):
        judged(SQUARE.format("return x * x"))


def test_who_comes_after_a_glutton_gets_a_box(judged):
    """Catches points lost because another function, which stood before, had the box ended over a limit."""
    glutton = "kept = [b'x' * 10**7 for _ in range(10**4)]\n    return x"
    limits = Limits(wall=60, memory=200_000_000)
    found = judged(SQUARE.format(glutton), CUBE.format("return x ** 3"), limits=limits)
    assert not found["square"].passed and "memory" in found["square"].text
    assert found["cube"].passed


def test_one_wrong_function_costs_its_own_points_alone(judged):
    """Catches a student who loses five points for one slip in a helper of two."""
    found = judged(SQUARE.format("return x + x"), CUBE.format("return x * square(x)"))
    assert not found["square"].passed
    assert found["cube"].passed and "once the functions that it calls are right" in found["cube"].text


def test_a_function_that_is_right_in_some_cases_earns_their_part(judged):
    """Catches all or nothing for a function that is right in four cases of five."""
    found = judged(SQUARE.format("return x * x if x < 5 else 0"), CUBE.format("return x ** 3"))
    assert (found["square"].passed, found["square"].earned, found["cube"].earned) == (False, 0.8, 1.0)


def test_a_part_counts_as_it_is_once_what_it_calls_is_right(judged):
    """Catches a function that is right in three cases of five and pays for another one's slip in all of them."""
    found = judged(SQUARE.format("return -1"), CUBE.format("return x * square(x) if x < 4 else 0"))
    assert (found["square"].earned, found["cube"].earned) == (0.0, 0.6)
    assert "once the functions that it calls are right" in found["cube"].text


@pytest.mark.parametrize(("share", "points"), [(0.0, 0.0), (0.8, 1.6), (0.9999, 1.99)])
def test_points_are_given_by_the_part_that_is_right(sheet, share, points):
    """Catches points for a part that nobody gets, and all points for a part."""
    (check,) = sheet.items[0].checks
    given = _earned(sheet.items[0], {check: Verdict(False, "wrong in some", share=share)}, missing=False)
    assert given["earned"] == points and given["verdict"] == "wrong in some"
    assert _earned(sheet.items[0], {check: Verdict(True, "right")}, missing=False)["earned"] == 2.0


class SuspiciousKey(PlainKey):
    """Makes a finding of all that is wrong."""

    def judge(self, check, outcomes):
        verdict = super().judge(check, outcomes)
        return replace(verdict, finding=not verdict.passed)


def test_what_is_found_of_another_function_costs_nothing(judged):
    """Catches a right function that keeps the finding, and the loss, of the constant that it calls."""
    found = judged(SQUARE.format("return 4"), CUBE.format("return x * square(x)"), key=SuspiciousKey)
    assert found["square"].finding and not found["square"].passed
    assert found["cube"].passed and not found["cube"].finding


def test_an_imported_reference_earns_nothing_and_is_a_finding(judged):
    """Catches the solution imported under the exercise's name."""
    found = judged("from shared.advantages import group_advantages", SQUARE.format("return group_advantages(x)"))
    assert found["square"].finding and "shared.advantages" in found["square"].text


def test_points_and_checks_are_read_from_the_worked_notebook(sheet):
    """Catches points that a student could write into the TODOs of what is handed in."""
    items = {item.name: item for item in sheet.items}
    assert (items["square"].points, items["cube"].points, sheet.points) == (2.0, 3.0, 5.0)
    assert [check.name for check in items["cube"].checks] == ["cube"]


@pytest.mark.parametrize(
    ("brought", "call"),
    [
        ("from shared import check as c", "c.square(square)"),
        ("import shared.check as chk", "chk.square(square)"),
        ("from shared.check import square as judge", "judge(square)"),
    ],
)
def test_a_check_under_another_name_earns_its_points(notebook, brought, call):
    """Catches an exercise that nobody checks, because its notebook imports the checks in another way."""
    (item,) = read_sheet(notebook(brought, SQUARE.format("return x * x"), call, folder="other")).items
    assert [(check.name, check.function) for check in item.checks] == [("square", "square")]


def test_a_notebook_is_graded_by_the_key_of_its_edition(notebook, sheet):
    """Catches last year's blank notebook graded with this year's exercises."""
    other = read_sheet(notebook(CUBE.format("return x ** 3"), "check.cube(cube)", folder="older"))
    handed_in = {"cells": [], "metadata": {"course": {"version": "0.1", "exercises": other.edition}}}
    assert sheet_for(handed_in, "maths.ipynb", [sheet, other]) is other
    with pytest.raises(Unreadable, match="version 0.1 of the course"):
        sheet_for(handed_in, "maths.ipynb", [sheet])


def test_a_notebook_that_says_nothing_is_known_by_its_name_or_not_at_all(sheet, notebook):
    """Catches a guess between several worked notebooks."""
    assert sheet_for({"metadata": {}, "cells": []}, "jane_maths (2).ipynb", [sheet]) is sheet
    with pytest.raises(Unreadable, match="Rename it"):
        sheet_for({"metadata": {}, "cells": []}, "final.ipynb", [sheet])
    assert parse(notebook("1"))["cells"]


def test_values_travel_bit_for_bit():
    """Catches a float that is rounded on its way out of the box, and nan or infinity lost."""
    torch = pytest.importorskip("torch")
    numbers = torch.tensor([[0.1, float("nan")], [float("inf"), 1e-300]], dtype=torch.float64)
    back = exchange._tensor(json.loads(json.dumps(exchange._numbers(numbers))))
    assert torch.equal(back.nan_to_num(7), numbers.nan_to_num(7)) and back.isnan().sum() == 1


@pytest.mark.parametrize(
    "values", [None, [], {}, {"numbers": "x"}, {"numbers": [1], "shape": [2]}, {"numbers": [[1]], "shape": [1]}]
)
def test_values_that_are_none_are_no_result(values):
    """Catches a traceback in the judge for a record that a submission made up."""
    pytest.importorskip("torch")
    assert exchange._tensor(values) is None


def test_a_case_that_was_never_asked_is_no_answer():
    """Catches a list as long as a number that a submission writes: the grader's own memory."""
    outcome = SimpleNamespace(records=[], stopped="", last_words="")
    records = [{"case": number, "outcome": {"value": 1}} for number in (10**12, -1, "0", [0])]
    judged = hidden._verdict(SimpleNamespace(name="square"), records, outcome, PlainKey())
    assert judged == Verdict(False, "it gave 0 of 5 answers.")


def test_two_threads_of_a_worker_each_read_their_own_verdict():
    """Catches one student's verdict given to another, since both asked before either had read."""

    class Process:
        def __init__(self):
            self.stdin = self.stdout = self

        def write(self, line):
            self.request = json.loads(line)

        def flush(self):
            time.sleep(0.02)

        def readline(self):
            return json.dumps({"passed": True, "text": self.request["judge"], "finding": False, "share": 1.0})

    key = object.__new__(Key)
    key.process = Process()
    key.one_at_a_time = threading.Lock()
    with ThreadPoolExecutor(4) as threads:
        names = [f"check {number}" for number in range(8)]
        assert [verdict.text for verdict in threads.map(lambda name: key.judge(name, []), names)] == names
