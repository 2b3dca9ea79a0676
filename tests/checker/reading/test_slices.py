"""Taking a student's function out of a notebook: with what it needs, without running a cell, without the reference."""

import json
import sys
from functools import partial
from types import SimpleNamespace

import pytest

from checker.grading.box import modules
from checker.grading.box.inside import answers
from checker.reading.notebook import read
from checker.reading.slicing.slices import slice_of
from checker.reading.syntax.statements import definitions
from tests.checker.conftest import code
from tests.checker.grading.judge.styles import LEFTOVERS, STYLES, WITH_TORCH, cells_of

EXERCISE = "def square(x):\n    # student code here\n    # TODO: x times x (2 points, 5 minutes)\n    {}\n    # end student code"


@pytest.fixture
def defined(tmp_path):
    """The definitions of a notebook with these cells."""

    def make(*sources):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.ipynb"
        path.write_text(
            json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [*map(code, sources)]})
        )
        return definitions(read(path))

    return make


@pytest.fixture
def edition(defined):
    return defined(
        EXERCISE.format("raise NotImplementedError"),
        "def twice(f, x):\n    return f(f(x))\ndef check_it(x):\n    return square(x)",
    )


def run(taken, name, *arguments):
    names = {}
    exec(taken.source, names)
    return names[name](*arguments)


def test_what_the_function_uses_comes_with_it(defined, edition):
    """Catches a helper, a constant or an import left behind: a right function then fails by a NameError."""
    student = defined(
        "import math as m\nPOWER, OTHER = 2, 3\nPATTERN = m.sqrt(4)",
        EXERCISE.format("return helper(x, POWER)"),
        "def helper(x, power):\n    return int(m.pow(x, power) * PATTERN / 2)",
    )
    taken = slice_of("square", student, edition)
    assert run(taken, "square", 3) == 9
    assert taken.problem == "" and taken.names == {"square", "helper", "m", "POWER", "PATTERN"}


@pytest.mark.parametrize(
    "magic",
    [
        "if True:\n    %matplotlib inline\nPOWER = 2",
        "!pip install \\\n    torch --quiet\nPOWER = 2",
        "%matplotlib inline\nprint('%d'\n      % (3))\nPOWER = 2",
    ],
)
def test_a_cell_with_magic_is_read(defined, edition, magic):
    """Catches a constant that is missing since a block holds magic alone, or a line of magic goes on below."""
    student = defined(magic, EXERCISE.format("return x**POWER"))
    assert run(slice_of("square", student, edition), "square", 3) == 9


def test_nothing_is_run_that_a_notebook_computes(defined, edition):
    """Catches a training loop that runs because its result bears the name of a function's own variable."""
    student = defined(
        "x = train()\nmodel = load('m')\nloss = model(x)", EXERCISE.format("loss = x * x\n    return loss")
    )
    taken = slice_of("square", student, edition)
    assert "train" not in taken.source and "load" not in taken.source
    assert run(taken, "square", 3) == 9


def test_the_last_definition_counts(defined, edition):
    """Catches the first attempt graded where a later cell defines the function again."""
    student = defined(EXERCISE.format("return 0"), "def square(x):\n    return x * x")
    assert run(slice_of("square", student, edition), "square", 3) == 9


def test_what_checks_an_exercise_is_the_editions_own(defined, edition):
    """Catches a student's version of the function between the check and the exercise, which could answer in its place."""
    student = defined(EXERCISE.format("return x * x"), "def check_it(x):\n    return 'always right'")
    taken = slice_of("check_it", student, edition)
    assert run(taken, "check_it", 3) == 9


def test_what_the_edition_makes_stands_below_what_the_student_made(defined):
    """Catches a table that the edition makes with a student's function, run above it since its cell has a lower number."""
    worked = defined(EXERCISE.format("return x * x"), "TABLE = [square(2)]\ndef looked_up():\n    return TABLE[0]")
    student = defined("", "", "", EXERCISE.format("return x * x"))
    assert run(slice_of("looked_up", student, worked), "looked_up") == 4


def test_a_wrong_helper_can_be_replaced_by_the_worked_one(defined):
    """Catches a student who loses the points of everything that calls one wrong function."""
    worked = defined(
        EXERCISE.format("return x * x"),
        "def cube(x):\n    # student code here\n    return x * square(x)\n    # end student code",
    )
    student = defined(EXERCISE.format("return 0"), "def cube(x):\n    return x * square(x)")
    assert run(slice_of("cube", student, worked), "cube", 2) == 0
    assert run(slice_of("cube", student, worked, frozenset({"square"})), "cube", 2) == 8


def test_a_function_that_is_not_there_is_said(defined, edition):
    """Catches the edition's own solution graded where the student deleted the exercise."""
    taken = slice_of("square", defined("y = 1"), edition)
    assert taken.source == "" and "There is no function `square`" in taken.problem
    assert taken.which_definition == "" and taken.statements == taken.warnings == taken.forbidden_imports == ()


def test_a_cell_that_is_no_python_costs_itself_alone(defined, edition):
    """Catches a whole notebook without points for one unfinished cell."""
    student = defined("def broken(:", "!pip install x\n%matplotlib inline", EXERCISE.format("return x * x"))
    assert run(slice_of("square", student, edition), "square", 3) == 9


@pytest.mark.parametrize(
    "line",
    [
        "from shared.advantages import group_advantages",
        "import shared.advantages as a",
        "from shared import advantages",
        "from shared.advantages import *",
    ],
)
def test_an_imported_reference_is_found(line, defined, edition):
    """Catches `return reference(x)`: the solution is public, and importing it is no solution."""
    name = line.split()[-1].replace("*", "group_advantages")
    student = defined(f"{line}", EXERCISE.format(f"return {name}.x"))
    used = slice_of("square", student, edition)
    inside = slice_of("square", defined(EXERCISE.format(line.replace("*", "group_advantages"))), edition)
    if not line.endswith("*"):
        assert modules.refused(used.imports, frozenset())
    assert modules.refused(inside.imports, frozenset())


SUPPLIED = {"tokenizer": SimpleNamespace(pad_token_id=1)}
SHOWN = partial(modules.refused, allowed=frozenset())


@pytest.fixture
def defined_in_a_box(monkeypatch):
    """The names that a box would define from statements, made in this process."""
    monkeypatch.setitem(sys.modules, answers.ITSELF, sys.modules[answers.ITSELF])
    return answers.defined


@pytest.mark.parametrize("style", STYLES | WITH_TORCH | LEFTOVERS, ids=str)
def test_an_honest_style_is_right(style, defined, edition, defined_in_a_box):
    """Catches a right function that fails, or goes wrong in silence, for want of what stands above it, and one that is
    refused for a replaced import or for a line that only shows something.
    """
    student = defined(*cells_of((STYLES | WITH_TORCH | LEFTOVERS)[style], "square", EXERCISE))
    taken = slice_of("square", student, edition, supplied_names=SUPPLIED, find_forbidden=SHOWN)
    assert (taken.forbidden_imports, taken.missing) == ((), ()) and (style in LEFTOVERS or taken.left_out == ())
    variables, failed = defined_in_a_box(taken.statements, SUPPLIED)
    assert [variables["square"](x) for x in range(2, 7)] == [4, 9, 16, 25, 36]
    assert failed == []


def test_lines_that_are_left_out_are_told(defined, edition):
    """Catches a function that fails since a line of it was taken for one that only shows, and a student who cannot see it."""
    student = defined("# Cell 5: One step\n" + EXERCISE.format(f"display(x, {'1, ' * 40})\n    return x"))
    (told,) = slice_of("square", student, edition).warnings
    assert told.startswith("`display(x, 1, ") and "...` in Cell 5 is left out: it only shows something" in told


# Cells that seem to replace an import, or only to show it, and use it all the same.
DISGUISED = {
    "replaced behind a condition": ["if False:\n    def taken(n):\n        return n", "return taken(x)"],
    "replaced where an import fails": [
        "try:\n    from shared.rloo import taken\nexcept ImportError:\n    taken = abs",
        "return taken(x)",
    ],
    "replaced and imported again": ["def taken(n):\n    return n", "from shared.rloo import taken", "return taken(x)"],
    "a type without a value": ["taken: object", "return taken(x)"],
    "named while it is printed": ["print(y := taken(x)); return y"],
    "named while it is asserted": ["assert (y := taken(x)) is not None; return y"],
    "named by a loop that prints": ["for y in [taken(x)]:\n        print(y)\n    return y"],
    "named and returned": ["y = taken(x); return y"],
    "imported within": ["from shared.rloo import taken as t; return t(x)"],
    "given, not shown": ["yield taken(x)"],
    "a default": ["def helper(n, do=taken):\n    return do(n)", "return helper(x)"],
    "a decorator": ["@taken\ndef helper(n):\n    return n", "return helper(x)"],
    "a test that decides": ["if taken(x):\n        y = 1\n    return y"],
    "put into a list": ["found = []\n    found.append(taken(x))\n    return found[0]"],
    "put into an argument": [
        "def helper(n, into):\n    into.update(v=taken(n))\n    return into",
        "return helper(x, {})['v']",
    ],
    "a loop that counts": ["n = 0\n    while taken(n):\n        n += 1\n    return n"],
}


@pytest.mark.parametrize("cells", DISGUISED.values(), ids=DISGUISED)
def test_what_the_value_depends_on_is_refused_however_it_is_written(cells, defined, edition):
    """Catches a reference that is used, taken for one that was replaced or that is only shown."""
    student = defined(*cells_of(["from shared.rloo import taken", *cells], "square", EXERCISE))
    refused = slice_of("square", student, edition, find_forbidden=SHOWN)
    assert refused.forbidden_imports == ("shared.rloo.taken",)


@pytest.mark.parametrize(
    "cells",
    [
        ["own = taken", "def taken(n):\n    return own(n)", "return taken(x)"],
        ["class Kept:\n    pass", "Kept.value = taken(3)\n    return Kept.value"],
        ["return taken(x)", "check.square(square)\ndef taken(n):\n    return n"],
    ],
)
def test_no_program_holds_an_import_that_is_not_allowed(cells, defined, edition):
    """Catches a reference that comes into the box since a line that uses it is not counted as one."""
    student = defined("from shared.rloo import taken", *cells[:-1], EXERCISE.format(cells[-1]), "check.square(square)")
    assert "shared" not in slice_of("square", student, edition, find_forbidden=SHOWN).source


TRAINING = [
    "from shared.models import load_policy\nmodel = load_policy()",
    "history = []\nBEST = 0",
    "# Cell 6: Training loop\nfor step in range(3):\n    history.append(model.train(step))\nresult = history[-1]",
]


def test_what_grading_does_not_run_is_named_with_its_cell(defined, edition):
    """Catches a NameError, or a list that arrives empty, of which a student cannot tell why."""
    student = defined(*TRAINING, EXERCISE.format("return x * x + len(history) + result"))
    taken = slice_of("square", student, edition, find_forbidden=SHOWN)
    assert "train" not in taken.source and "load_policy" not in taken.source and "history = []" in taken.source
    assert taken.warnings == (
        "`history` is made in Cell 6 with `model`, which grading does not run.",
        "`result` is made in Cell 6 with `history`, which grading does not run.",
    )


def test_what_may_be_imported_may_be_used_at_top_level(defined, edition):
    """Catches a constant that is left out although the exercise allows what it is made of."""
    line = "from shared.tasks.countdown import is_expression\nKNOWN = is_expression('1')"
    student = defined(line, EXERCISE.format("return x * x * KNOWN"))
    allowed = frozenset({"shared.tasks.countdown.is_expression"})
    taken = slice_of("square", student, edition, find_forbidden=partial(modules.refused, allowed=allowed))
    assert taken.imports == allowed and "KNOWN = is_expression('1')" in taken.statements
    assert "KNOWN" not in slice_of("square", student, edition, find_forbidden=SHOWN).source.partition("def ")[0]


def test_an_argument_is_not_changed_nor_by_a_module(defined, edition):
    """Catches training that is run because the model is handed to it, or because a module has a method."""
    above = "import random\nlimits = [2]\nrandom.seed(0)\nrandom.shuffle(limits)\nprint(limits)\nlimits[:] = [1]"
    student = defined(above, EXERCISE.format("return x * x * len(limits) + 0 * random.random()"))
    assert slice_of("square", student, edition).statements[:-1] == ("import random", "limits = [2]", "limits[:] = [1]")


def test_what_stands_below_the_check_does_not_count(defined, edition):
    """Catches a constant of a later cell, which did not exist when the function was called right."""
    cells = [
        "POWER = 2",
        EXERCISE.format("return x ** POWER"),
        "check.square(square)",
        "for POWER in (3, 4):\n    pass",
    ]
    taken = slice_of("square", defined(*cells), edition)
    assert run(taken, "square", 3) == 9 and taken.which_definition == ""


def test_of_several_definitions_the_one_that_was_checked_last_counts(defined, edition):
    """Catches a sketch below the last check graded in place of the function, and a student who is not told of it."""
    cells = [
        EXERCISE.format("return 0"),
        "check.square(square)",
        EXERCISE.format("return x * x"),
        "check.square(square)",
    ]
    taken = slice_of("square", defined("# Cell 5: One step", *cells, "def square(x):\n    return 7"), edition)
    assert run(taken, "square", 3) == 9
    assert (
        taken.which_definition
        == "`square` is defined 3 times; graded is the definition in Cell 5, which its last check judged."
    )


@pytest.mark.parametrize("helper", [False, True])
def test_what_is_mended_below_its_check_in_the_same_cell_counts(helper, defined, edition):
    """Catches a function, or one that it calls, graded as it was before it was mended, or with an older constant."""
    name = "helper" if helper else "square"
    first = EXERCISE.format("return helper(x)") if helper else ""
    cell = f"# Cell 5: One step\nP = 2\ndef {name}(x):\n    return 0\n{first}\ncheck.square(square)\nP = 3\ndef {name}(x):\n    return x**P"
    taken = slice_of("square", defined(cell, "P = 4\ndef helper(x):\n    return 7"), edition)
    assert run(taken, "square", 2) == (4 if helper else 8)
    if not helper:
        said = "`square` is defined 2 times; graded is the definition in Cell 5, the last one in the cell of its last check"
        assert taken.which_definition == f"{said}, below that check."


@pytest.mark.parametrize("count", [2, 3])
def test_the_last_of_several_definitions_is_named_whether_it_was_checked_or_not(count, defined, edition):
    """Catches a student who is told of the wrong cell, or of a check that there never was."""
    cells = [f"# Cell {number + 3}: Step\n{EXERCISE.format('return 0')}\n" for number in range(1, count + 1)]
    for check, why in (("check.square(square)", "which its last check judged"), ("", "the last one")):
        said = slice_of("square", defined(*[cell + check for cell in cells]), edition).which_definition
        assert f"{count} times" in said and f"Cell {count + 3}, {why}" in said


def test_what_a_helper_imports_is_the_functions_own(defined, edition):
    """Catches a solution of the course's own that is called by way of a helper, and a constant that costs the points."""
    helper = "def helper(x):\n    from shared.kl import per_token_kl\n    return x * x"
    student = defined("from shared.losses import LIMIT\nlimit = LIMIT + 1", helper, EXERCISE.format("return helper(x)"))
    assert slice_of("square", student, edition, find_forbidden=SHOWN).forbidden_imports == ("shared.kl.per_token_kl",)
    student = defined("from shared.losses import LIMIT\nlimit = LIMIT + 1", EXERCISE.format("return x * limit"))
    taken = slice_of("square", student, edition, find_forbidden=SHOWN)
    assert taken.forbidden_imports == () and len(taken.warnings) == 1 and "limit" not in taken.names


def test_what_the_case_supplies_is_not_looked_for(defined, edition):
    """Catches a model that is loaded, or trained, for a function that is called with another in its place."""
    student = defined("policy = train()", "G = 8", EXERCISE.format("return policy(x) * G"))
    assert "train" not in slice_of("square", student, edition, supplied_names=("policy", "G")).source


def test_an_import_brings_what_the_function_uses_and_no_more(defined, edition):
    """Catches a function that pays for what stands beside its helper in one line of imports."""
    line = "from shared.tasks.countdown import correctness_reward as other, is_expression\nimport os, math as m"
    student = defined(line, EXERCISE.format("return is_expression(str(x)) and m.sqrt(x)"))
    taken = slice_of("square", student, edition)
    assert taken.imports == {"shared.tasks.countdown.is_expression"}
    assert "import math as m" in taken.source and "os" not in taken.source


def test_what_only_an_annotation_names_is_not_taken(defined, edition):
    """Catches a right function that is refused for the type in its signature."""
    student = defined(
        "from shared.rollout import Rollout",
        EXERCISE.format("kept: Rollout = x * x\n    return kept").replace("(x)", "(x: Rollout) -> Rollout"),
    )
    taken = slice_of("square", student, edition)
    assert taken.imports == frozenset() and run(taken, "square", 3) == 9


def test_what_an_exercise_allows_comes_with_what_it_imports_and_no_more():
    """Catches a box that shows the whole of shared/, or one in which an allowed helper cannot be imported."""
    shown = modules.files(["shared.engine.sampling"])
    assert {"shared/__init__.py", "shared/engine/sampling.py"} <= set(shown)
    assert not {"shared/advantages.py", "shared/losses.py", "shared/kl.py", "shared/check.py"} & set(shown)


def test_a_generous_slice_takes_along_what_may_change_a_name_and_accuses_nobody(defined, edition):
    """Catches a training loop or a table that is shown as a part of every function, and one that costs its points."""
    cells = (
        "import heapq\nfrom shared.tables import show\nHEAP = []",
        "def add(n):\n    heapq.heappush(HEAP, n)",
        "def report():\n    show(HEAP)",
        "add(2)\nreport()\nother = 3",
        EXERCISE.format("return x ** HEAP[0]"),
    )
    forbidden = {"generous": True, "find_forbidden": lambda names: sorted(name for name in names if "tables" in name)}
    plain, generous = (slice_of("square", defined(*cells), edition, **how) for how in ({}, forbidden))
    assert "add(2)" not in plain.source and "add(2)" in generous.source and "other" not in generous.source
    assert generous.forbidden_imports == () and not generous.problem
    assert run(generous, "square", 3) == 9
