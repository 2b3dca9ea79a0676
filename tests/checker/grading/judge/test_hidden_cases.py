"""Points by hidden cases: what a notebook shows does not count, what its functions give does.

The judge here is a small stand-in for `checker.grading.judge.oracle.key`, without torch: cases and values are plain numbers. It
does not show the exercises of the course; `test_course.py` does.
"""

import base64
import json
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

from checker.grading.box.inside import tensors
from checker.grading.box.isolation import BoxFailed, Outcome
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT, Isolation, box
from checker.grading.judge import boxed_functions
from checker.grading.judge.boxed_functions import BoxedFunction, FinishedBox, Grader
from checker.grading.judge.hidden_cases import verdicts
from checker.grading.judge.one_notebook import _graded_item
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict, ReferenceProcess
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.points.items import Check
from checker.reading.notebook import read
from checker.reading.slicing.slices import Slice
from checker.reading.syntax.statements import definitions
from tests.checker.conftest import code
from tests.checker.grading.judge.reading import programs_of
from tests.checker.grading.judge.styles import FURTHER, LEFTOVERS, STYLES, cells_of

SQUARE = "def square(x):\n    # student code here\n    # TODO: x times x (2 points, 5 minutes)\n    {}\n    # end student code"
CUBE = "def cube(x):\n    # student code here\n    # TODO: with square (3 points, 5 minutes)\n    {}\n    # end student code"
ABOUT = {"square": lambda x: x * x, "cube": lambda x: x**3, "fourth": lambda x: x**4}


class PlainKey:
    """Knows squares and cubes; draws its cases from the seed."""

    def __init__(self, seed=1):
        self.numbers = [seed + step for step in range(5)]

    def cases(self, checks):
        supplied = {"tokenizer": SimpleNamespace(pad_token_id=1)}
        asked = {check: {"cases": self.numbers, "supplied": supplied} for check in set(checks) & set(ABOUT)}
        pickled = base64.b64encode(pickle.dumps(asked)).decode()
        names = dict.fromkeys(asked, list(supplied))
        return HiddenCases(tuple(sorted(asked)), pickled, (), supplied_names=names)

    def number(self, expression, program):
        assert "dots" in program
        return {"len(train_rows)": 4, "model.config.vocab_size": 12}.get(expression)

    def judge(self, check, outcomes):
        given = [None if outcome is None else outcome.get("value") for outcome in outcomes]
        expected = [ABOUT[check](number) for number in self.numbers]
        if len(given) < len(expected):
            text = f"it gave {len(given)} of {len(expected)} answers."
            return HiddenVerdict(False, text, only_answers_missing=True)
        share = sum(one == other for one, other in zip(given, expected)) / len(expected)
        return HiddenVerdict(given == expected, "right" if given == expected else f"wrong: {given}", share=share)


@pytest.fixture(autouse=True)
def without_torch(monkeypatch, tmp_path):
    """The box calls functions by plain calls: a copy of the checker whose exchange knows no exercises."""
    monkeypatch.setattr(boxed_functions, "IMPORTED", ())
    root = tmp_path / "project"
    root.mkdir()
    import shutil

    shutil.copytree(boxed_functions.ROOT / "checker", root / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    plain = "def outcome_of(function, case, asked):\n    try:\n        return {'value': function(case)}\n    except Exception as error:\n        return {'raised': str(error)}\n"
    (root / "checker" / "grading" / "box" / "inside" / "exchange.py").write_text(plain)
    monkeypatch.setattr(boxed_functions, "ROOT", root)


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
def worked(notebook):
    cells = (
        SQUARE.format("return x * x"),
        "check.square(square)",
        CUBE.format("return x * square(x)"),
        "check.cube(cube)",
    )
    return read_worked_notebook(notebook(*cells))


@pytest.fixture
def judged(notebook, worked, isolation):
    """The verdicts of the checks on a student's notebook, by their names."""

    def judge(*sources, seed=1, limits=Limits(wall=60), key=PlainKey, worked=worked, modules=()):
        student = definitions(read(notebook(*sources, folder="student")), modules)
        references = key(seed)
        found = verdicts(programs_of(student, worked, references), Grader(references, isolation, limits))
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


# The bodies of functions, all tried in one box.
ROUTES = {
    "leaves early": "raise SystemExit(0)",
    "interrupts": "raise KeyboardInterrupt",
    "no number": "return float('nan')",
    "the answer as a text": "return str(x * x)",
    "the answer in a record": "return {'value': x * x}",
    "a number that equals everything": "return type('Any', (int,), {'__eq__': lambda *others: True})(0)",
    "what encodes is replaced": "import checker.grading.box.inside.exchange as e; e.outcome_of = lambda *a: {'passed': True}; return 0",
    "what writes is replaced": "import json; json.dumps = lambda record: '{\"passed\": true}'; return 0",
    "further answers": "import sys; sys._getframe(2).f_locals['send']({'outcome': {'value': 0}}); return 0",
    "the other cases are taken away": "import sys; sys._getframe(2).f_locals['asked']['cases'].clear(); return x * x",
    "the grader's own input": "return open('/proc/1/fd/0').read()",
    "the cases are made easy": "import sys; cases = sys._getframe(2).f_locals['asked']['cases']; cases[:] = [0] * len(cases); return 0",
    "an answer of a later case first": "import sys; cases = sys._getframe(2).f_locals['asked']['cases']; cases.reverse(); return 0",
    "outcomes written beside the sender": "import os; [os.write(n, b'{\"outcome\": {\"value\": 12345}}\\n') for n in range(3, 9) if os.path.exists(f'/proc/self/fd/{n}')]; return 0",
    "said to be done": "import sys; sys._getframe(2).f_locals['send']({'done': True}); return x * x",
    "a problem of one's own": "import sys; sys._getframe(2).f_locals['send']({'problem': 'right in all cases'}); return 0",
    "two processes that answer": "import os; os.fork(); return 0",
    "a child that answers": "import os; child = os.fork(); return 0 if child else 1",
    "a thread that answers": "import sys, threading; send = sys._getframe(2).f_locals['send']; t = threading.Thread(target=lambda: send({'outcome': {'value': 12345}})); t.start(); t.join(); return 0",
    "built-in functions replaced": "import builtins; builtins.len = builtins.range = builtins.isinstance = lambda *a: True; return 0",
    "a number with other words": "return type('N', (int,), {'__repr__': lambda n: '10000', '__str__': lambda n: '10000'})(0)",
    "a float with other words": "return type('N', (float,), {'__repr__': lambda n: '10000'})(0)",
    "a number of too many digits": "return 10 ** 5000",
    "lists in lists": "y = []\n    for _ in range(10**5): y = [y]\n    return y",
    "an answer of five megabytes": "return 'x' * 5_000_000",
    "no end of answers": "import sys\n    while True: sys._getframe(2).f_locals['send']({'outcome': {'value': 0}})",
    "a dict with a key of every kind": "return {None: x * x, 1.5: x}",
    "a value that unpickles": "return type('P', (), {'__reduce__': lambda p: (print, ('right',))})()",
    "what is imported is replaced": "import sys; sys.modules['json'] = sys.modules['checker.grading.box.inside.exchange'] = sys; return 0",
    "a trace over what comes after": "import sys; sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None); return 0",
    "limits lifted": "import resource; resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6)); return 0",
    "an alarm": "import signal; signal.signal(signal.SIGALRM, lambda *a: 1 / 0); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001); return 0",
    "the key's program": "return open('/course/checker/grading/judge/oracle/key.py').read()",
    "memory of its own, searched": "import re; found = re.findall(rb'reference', open('/proc/self/mem', 'rb').read(1)); return len(found)",
    "the course, from its folder": "import sys; sys.path.insert(0, '/course'); return __import__('shared.advantages')",
    "the other functions' frames": "import sys; frame = sys._getframe(4); return frame.f_locals['answers'].problem or 0",
}


def test_routes_to_unearned_points_earn_none(notebook, isolation):
    """Catches a record of one's own, or a changed program of the box, that is believed; and one that costs another's."""
    bodies = ROUTES | {"honest, after all of them": "return x * x"}
    names = [f"route_{number}" for number in range(len(bodies))]
    exercises = [SQUARE.replace("square", name) for name in names]
    calls = [f"check.square({name})" for name in names]
    sources = [cell for e, call in zip(exercises, calls) for cell in (e.format("return x * x"), call)]
    worked = read_worked_notebook(notebook(*sources, folder="routes"))
    student = [exercise.replace("{}", body) for exercise, body in zip(exercises, bodies.values())]
    handed_in = definitions(read(notebook(*student, folder="student")))
    found = verdicts(programs_of(handed_in, worked, PlainKey(100)), Grader(PlainKey(100), isolation, Limits(wall=120)))
    earned = {route: verdict.earned for route, verdict in zip(bodies, found.values(), strict=True)}
    assert earned == dict.fromkeys(ROUTES, 0) | {"honest, after all of them": 1}


def test_an_endless_loop_costs_one_question(judged, monkeypatch):
    """Catches one time-out that takes the points of every other exercise with it."""
    monkeypatch.setattr(boxed_functions, "SECONDS", 2.0)
    monkeypatch.setattr(boxed_functions, "patience", lambda: 1.0)
    found = judged(SQUARE.format("return x * x"), CUBE.format("while True: pass"))
    assert found["square"].passed
    assert "it took more than 2 s" in found["cube"].text


def test_honest_styles_are_right_in_a_box(notebook, isolation):
    """Catches a right function that earns nothing for the way in which its notebook defines what it uses."""
    styles = [*STYLES.values(), *LEFTOVERS.values(), *FURTHER.values()]
    names = [f"style_{number}" for number in range(len(styles))]
    cells = [cells_of(style, name, SQUARE) for style, name in zip(styles, names, strict=True)]
    sources = [
        cell
        for name in names
        for cell in (SQUARE.replace("square", name).format("return x * x"), f"check.square({name})")
    ]
    worked = read_worked_notebook(notebook(*sources, folder="styles"))
    student = definitions(read(notebook(*(cell for several in cells for cell in several), folder="student")))
    found = verdicts(programs_of(student, worked, PlainKey()), Grader(PlainKey(), isolation, Limits(wall=60)))
    assert len(found) == len(styles)
    assert {check.function: verdict.text for check, verdict in found.items() if not verdict.passed} == {}


MADE = (
    "# Cell 3: Rows\nfrom shared.tasks import dots\ntrain_rows = dots.dataset('train', 4, seed=0)\nmodel = dots.load()"
)
NUMBERS = {  # cells above a function of x, its body, and whether it is the square
    "a length": (["A = len(train_rows)"], "return x ** (A // 2)", True),
    "half a length": (["B = len(train_rows) // 2", "C = B"], "return x**C", True),
    "a length in the function": ([], "return x ** (len(train_rows) // 2)", True),
    "a length in a helper": (["def half():\n    return len(train_rows) // 2"], "return x ** half()", True),
    "an attribute": (["D = model.config.vocab_size"], "return x ** (D // 6)", True),
    "a number that the notebook has not": (["E = model.config.no_such"], "return x * x if E else 0", False),
    "a text": (["F = train_rows[0]['prompt']"], "return x * x if F else 0", False),
    "rows of one's own": (["rows = [1, 2]", "H = len(rows)"], "return x**H", True),
    "rows that a later cell makes": (["late = [4]\nG = len(late)"], "return x ** (2 * G)", True),
    "rows that the course has not": (["mine = dots.dataset('train', 2)", "I = len(mine)"], "return x**I", False),
}


def test_a_number_of_what_only_a_run_makes_is_that_of_the_notebook_as_handed_out(notebook, isolation):
    """Catches a right function that earns nothing for a length, and more than a number that reaches it."""
    functions = [SQUARE.replace("square", f"number_{place}") for place in range(len(NUMBERS))]
    checks = [f"check.square(number_{place})" for place in range(len(NUMBERS))]
    sources = [part for one, check in zip(functions, checks) for part in (one.format("return x * x"), check)]
    handed_in = [
        part
        for (above, body, _), one, check in zip(NUMBERS.values(), functions, checks)
        for part in (*above, one.format(body), check)
    ]
    worked = read_worked_notebook(notebook(MADE, *sources, folder="worked"))
    student = definitions(read(notebook(MADE, *handed_in, folder="student")))
    found = verdicts(programs_of(student, worked, PlainKey()), Grader(PlainKey(), isolation, Limits(wall=60)))
    by_name = {check.function: verdict for check, verdict in found.items()}
    in_order = dict(zip(NUMBERS, (by_name[f"number_{place}"] for place in range(len(NUMBERS)))))
    assert [verdict.passed for verdict in in_order.values()] == [good for *_, good in NUMBERS.values()]
    said = "Grading takes numbers from the notebook as it was handed out: "
    assert f"{said}`len(train_rows)` is 4." in in_order["half a length"].text, "a student's own rows may be 8"
    assert f"{said}`model.config.vocab_size` is 12." in in_order["an attribute"].text
    assert said not in in_order["rows of one's own"].text


HELPERS = "from more import FACTOR\nnowhere\nclass Power:\n    def of(self, x): return x ** FACTOR\n"


@pytest.mark.parametrize(
    ("top", "body"),
    [
        ("import helpers as h", "return h.Power().of(x)"),
        ("from helpers import *", "return Power().of(x)"),
        ("", "from helpers import Power; return Power().of(x)"),
    ],
)
def test_a_module_of_ones_own_comes_with_the_function(top, body, judged):
    """Catches a right function that earns nothing since a file beside its notebook, or one that this needs, was left."""
    modules = (("helpers.py", HELPERS), ("more.py", "FACTOR = 2"), ("unused.py", "1 / 0"))
    found = judged(top, SQUARE.format(body), modules=modules)["square"]
    assert found.passed and "`helpers.py`, `more.py`" in found.text and "unused" not in found.text


def test_a_module_of_ones_own_opens_no_way_to_the_reference(judged):
    """Catches a forbidden import that hides in a module, at its top, in its function, or under the name of another module."""
    rloo = "from shared.advantages import group_advantages as square"
    modules = (
        ("helpers.py", f"{rloo}\ndef inside(x):\n    {rloo}\n    return square(x)\n"),
        ("broken.py", "def f(:"),
        ("colorsys.py", "ONE_THIRD = 9"),
    )
    for body in ("import helpers; return helpers.square(x)", "import helpers; return helpers.inside(x)"):
        found = judged(SQUARE.format(body), modules=modules)["square"]
        assert found.earned == 0 and "`helpers.py` is left out: it needs shared.advantages" in found.text
    assert (
        "`broken.py` cannot be read"
        in judged(SQUARE.format("import broken; return broken.f(x)"), modules=modules)["square"].text
    )
    assert judged(SQUARE.format("import colorsys; return round(3 * colorsys.ONE_THIRD) * x * x"), modules=modules)[
        "square"
    ].passed


def test_an_exit_is_not_all_passed(judged):
    """Catches a dead process counted as one without complaints."""
    found = judged(SQUARE.format("import os; os._exit(0)"), CUBE.format("return x ** 3"))
    assert not found["square"].passed and "it ended the process it ran in" in found["square"].text
    assert found["cube"].passed


def test_a_box_that_is_refused_is_nobodys_0(judged, isolation, monkeypatch):
    """Catches a box that worked when it was tried and is refused later: 0 points for all functions at once."""
    monkeypatch.setattr(boxed_functions, "box", lambda isolation, *rest: box(Isolation("bwrap", "/bin/false"), *rest))
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
    assert "and all has run that it may need, it earns 60 % of its points." in found["cube"].text


class TellingKey(PlainKey):
    """Tells what was raised, as the key of the course does."""

    def judge(self, check, outcomes):
        verdict = super().judge(check, outcomes)
        return replace(verdict, text=f"{verdict.text} {[outcome.get('raised') for outcome in outcomes]}")


def test_an_error_tells_nothing_of_the_solution_that_mends_a_function(judged):
    """Catches the worked solution read out of the frames of a second try and handed over as the words of an error."""
    tell = "import sys; raise ValueError(sys._getframe(2).f_locals['function'])"
    found = judged(
        SQUARE.format("return -1"), CUBE.format(f"if x > 2: {tell}\n    return x * square(x)"), key=TellingKey
    )
    assert (found["square"].earned, found["cube"].earned) == (0.0, 0.4)
    assert "return -1" in found["cube"].text and "return x * x" not in found["cube"].text


FOURTH = "def fourth(x):\n    # student code here\n    # TODO: with cube (1 point, 5 minutes)\n    {}\n    # end student code"
STEALING = """square
    import sys
    frame = sys._getframe()
    while frame:
        job = frame.f_locals.get("job", {})
        for program in job.get("functions", ()):
            if "return x * " + "square(x)" in "".join(program["statements"]):
                names = {}
                exec("\\n".join(program["statements"]), names)
                return names["cube"](x)
        frame = frame.f_back
    return 0"""


def test_a_solution_that_mends_one_function_is_not_in_the_box_of_its_own(judged, notebook):
    """Catches a wrong function that finds its worked solution in the program of another one, which it was to help."""
    sources = [SQUARE.format("return x * x"), CUBE.format("return x * square(x)"), FOURTH.format("return x * cube(x)")]
    calls = ["check.square(square)", "check.cube(cube)", "check.fourth(fourth)"]
    handed_in = [SQUARE.format("return 0"), CUBE.format(STEALING), FOURTH.format("return 0 * cube(x)")]
    found = judged(*handed_in, worked=read_worked_notebook(notebook(*sources, *calls, folder="three")))
    assert found["cube"].earned == 0 and not found["fourth"].passed


def test_a_function_is_not_mended_by_one_that_its_solution_does_not_call(judged, notebook):
    """Catches a wrong function that asks the worked solution of a later exercise, whose own was left wrong for it."""
    sources = [SQUARE.format("return x * x"), CUBE.format("return x ** 3"), "check.square(square)", "check.cube(cube)"]
    handed_in = [SQUARE.format("return cube(x) // x"), CUBE.format("return 0")]
    assert judged(*handed_in, worked=read_worked_notebook(notebook(*sources, folder="apart")))["square"].earned == 0


@pytest.mark.parametrize(("share", "points"), [(0.0, 0.0), (0.8, 1.6), (0.9999, 1.99)])
def test_points_are_given_by_the_part_that_is_right(worked, share, points):
    """Catches points for a part that nobody gets, and all points for a part."""
    (check,) = worked.items[0].checks
    given = _graded_item(worked.items[0], {check: HiddenVerdict(False, "wrong in some", share=share)}, missing=False)
    assert given["earned"] == points and given["verdict"] == "wrong in some"
    assert _graded_item(worked.items[0], {check: HiddenVerdict(True, "right")}, missing=False)["earned"] == 2.0


@pytest.mark.parametrize("points", [1.0, 0.1])
def test_parts_add_up_as_fractions(worked, points):
    """Catches floats: 0.2 and 0.7 are a little less than 9/10, and the half of that, of a point, was 0.44."""
    two = tuple(Check(name, name) for name in ("first", "second"))
    judged = {check: HiddenVerdict(False, "", share=share) for check, share in zip(two, (2 / 10, 7 / 10), strict=True)}
    item = replace(worked.items[0], checks=two, points=points)
    assert _graded_item(item, judged, missing=False)["earned"] == (0.45 if points == 1 else 0.04)


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


def test_points_and_checks_are_read_from_the_worked_notebook(worked):
    """Catches points that a student could write into the TODOs of what is handed in."""
    items = {item.name: item for item in worked.items}
    assert (items["square"].points, items["cube"].points, worked.points) == (2.0, 3.0, 5.0)
    assert [check.name for check in items["cube"].checks] == ["cube"]


@pytest.mark.parametrize(
    ("brought", "call"),
    [
        ("from shared import check as c", "c.square(square)"),
        ("import shared.check as chk", "chk.square(square)"),
        ("from shared.check import square as judge", "judge(square)"),
        ("from shared import check", "if check.square(square):\n    print('train')"),
        ("from shared import check", "passed = check.square(square)"),
    ],
)
def test_a_check_under_another_name_earns_its_points(notebook, brought, call):
    """Catches an exercise that nobody checks, because its notebook imports the checks in another way or uses their answer."""
    (item,) = read_worked_notebook(notebook(brought, SQUARE.format("return x * x"), call, folder="other")).items
    assert [(check.name, check.function) for check in item.checks] == [("square", "square")]


def test_the_gradient_of_a_model_is_short():
    """Catches seconds in which numbers are written and read as decimals, five times on their way."""
    torch = pytest.importorskip("torch")
    gradient = torch.linspace(-1, 1, 7000, dtype=torch.float64)
    assert len(json.dumps(tensors.encoded_tensor(gradient))) < 11 * 7000


@pytest.mark.parametrize(
    "values",
    [
        None,
        [],
        {},
        {"float64": "no base64", "shape": [1]},
        {"float64": "AAAA", "shape": [1]},
        {"float64": "AAAAAAAA4D8=", "shape": [2]},
        {"float64": "AAAAAAAA4D8=", "shape": [[1]]},
        {"float64": "AAAAAAAA4D8=", "shape": [1] * 9},
        {"float64": [0.5], "shape": [1]},
    ],
)
def test_values_that_are_none_are_no_result(values):
    """Catches a traceback in the judge for a record that a submission made up."""
    pytest.importorskip("torch")
    assert tensors.decoded_tensor(values) is None


def may_import(name, *imports, has_reference=True):
    return BoxedFunction(Check(name, name), Slice(), frozenset(imports), has_reference)


def test_the_functions_of_a_notebook_take_two_boxes_at_most(monkeypatch):
    """Catches a box for each list of imports, each of which takes seconds to import torch."""
    monkeypatch.setattr(boxed_functions, "ROOT", ROOT)
    functions = [
        may_import("a"),
        may_import("b", "shared.kl"),
        may_import("c", "shared.tasks.tags.parse"),
        may_import("d", "shared.rollout"),
        may_import("e", "shared.rollout.sample"),
    ]
    batches = boxed_functions.in_batches(functions)
    assert [[function.check.name for function in batch] for batch in batches] == [["a", "b", "c"], ["d", "e"]]


def test_a_task_of_ones_own_brings_no_files_to_functions_with_a_reference():
    """Catches `import shared.exercises.catalogue...` in a function that may import anything, shown to all others."""
    functions = [may_import("a"), may_import("own", "shared.check", has_reference=False)]
    batches = boxed_functions.in_batches(functions)
    assert [[function.check.name for function in batch] for batch in batches] == [["a"], ["own"]]


def test_a_case_that_was_never_asked_is_no_answer():
    """Catches a list as long as a number that a submission writes: the grader's own memory."""
    records = [{"key": "0", "case": number, "outcome": {"value": 1}} for number in (10**12, -1, "0", [0])]
    outcome = Outcome(tuple(records), "", 0.1, begun=True, finished=True)
    function = BoxedFunction(Check("square", "square"), Slice(), frozenset())
    judged = boxed_functions.verdict_from_box(function, FinishedBox([function], outcome), PlainKey())
    assert judged == HiddenVerdict(False, "it gave 0 of 5 answers.", only_answers_missing=True)


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
            return json.dumps(asdict(HiddenVerdict(True, self.request["judge"], share=1.0)))

    key = object.__new__(ReferenceProcess)
    key.process = Process()
    key.one_at_a_time = threading.Lock()
    with ThreadPoolExecutor(4) as threads:
        names = [f"check {number}" for number in range(8)]
        assert [verdict.text for verdict in threads.map(lambda name: key.judge(name, []), names)] == names
