"""Taking a student's function out of a notebook: with what it needs, without running a cell, without the reference."""

import json

import pytest

from checker.grading import modules
from checker.grading.functions import definitions, take
from checker.notebook import read
from tests.checker.conftest import code

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
    assert run(take("square", student, edition), "square", 3) == 9


def test_nothing_is_run_that_a_notebook_computes(defined, edition):
    """Catches a training loop that runs because its result bears the name of a function's own variable."""
    student = defined(
        "x = train()\nmodel = load('m')\nloss = model(x)", EXERCISE.format("loss = x * x\n    return loss")
    )
    taken = take("square", student, edition)
    assert "train" not in taken.source and "load" not in taken.source
    assert run(taken, "square", 3) == 9


def test_the_last_definition_counts(defined, edition):
    """Catches the first attempt graded where a later cell defines the function again."""
    student = defined(EXERCISE.format("return 0"), "def square(x):\n    return x * x")
    assert run(take("square", student, edition), "square", 3) == 9


def test_what_checks_an_exercise_is_the_editions_own(defined, edition):
    """Catches a student's version of the function between the check and the exercise, which could answer in its place."""
    student = defined(EXERCISE.format("return x * x"), "def check_it(x):\n    return 'always right'")
    taken = take("check_it", student, edition)
    assert run(taken, "check_it", 3) == 9


def test_a_wrong_helper_can_be_replaced_by_the_worked_one(defined):
    """Catches a student who loses the points of everything that calls one wrong function."""
    worked = defined(
        EXERCISE.format("return x * x"),
        "def cube(x):\n    # student code here\n    return x * square(x)\n    # end student code",
    )
    student = defined(EXERCISE.format("return 0"), "def cube(x):\n    return x * square(x)")
    assert run(take("cube", student, worked), "cube", 2) == 0
    assert run(take("cube", student, worked, frozenset({"square"})), "cube", 2) == 8


def test_a_function_that_is_not_there_is_said(defined, edition):
    """Catches the edition's own solution graded where the student deleted the exercise."""
    taken = take("square", defined("y = 1"), edition)
    assert taken.source == "" and "There is no function `square`" in taken.problem


def test_a_cell_that_is_no_python_costs_itself_alone(defined, edition):
    """Catches a whole notebook without points for one unfinished cell."""
    student = defined("def broken(:", "!pip install x\n%matplotlib inline", EXERCISE.format("return x * x"))
    assert run(take("square", student, edition), "square", 3) == 9


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
    used = take("square", student, edition)
    inside = take("square", defined(EXERCISE.format(line.replace("*", "group_advantages"))), edition)
    if not line.endswith("*"):
        assert "shared.advantages" in modules.refused(used.imports, frozenset())
    assert "shared.advantages" in modules.refused(inside.imports, frozenset())


def test_what_an_exercise_allows_comes_with_what_it_imports_and_no_more():
    """Catches a box that shows the whole of shared/, or one in which an allowed helper cannot be imported."""
    shown = modules.files(["shared.engine.sampling"])
    assert {"shared/__init__.py", "shared/engine/sampling.py"} <= set(shown)
    assert not {"shared/advantages.py", "shared/losses.py", "shared/kl.py", "shared/check.py"} & set(shown)
