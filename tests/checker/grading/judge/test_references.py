"""No reference lies in a box in which a student's function runs, under whatever name it is looked for."""

import ast
import json
import subprocess
import sys
from dataclasses import asdict

import pytest

from checker.grading.box import modules
from checker.grading.box.limits import Limits
from checker.grading.box.walls import ROOT
from checker.grading.judge import hidden_cases
from checker.grading.judge.boxed_functions import Grader
from checker.grading.judge.hidden_cases import verdicts
from checker.grading.judge.reference_process import ReferenceProcess
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.reading.notebook import read
from checker.reading.slicing.slices import slice_of
from checker.reading.syntax.statements import definitions
from tests.checker.conftest import code
from tests.checker.grading.judge.reading import programs_of

pytest.importorskip("torch")

from shared.check import EXERCISES
from shared.exercises.catalogue import PLACES
from tests.checker.grading.judge.inside import boxes_of, hidden_cases_without_the_cases

WITHOUT_REFERENCES = {"own_task.ipynb", "real_model.ipynb"}  # their checks hold for any task
NAMES = sorted({path.name for path in (ROOT / "notebooks").glob("*.ipynb")} - WITHOUT_REFERENCES)
OF_A_REFERENCE = {"Exercise", "Steps", "Slip", "Part"}
FEWEST = 100  # callables of a box: a search that finds fewer did not look


def inside(*arguments):
    """The output of `inside.py`, run in a process of its own."""
    command = [sys.executable, "-m", "tests.checker.grading.judge.inside", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_no_box_shows_the_catalogue_or_defines_what_is_asked_for(name):
    """Catches an import, added anywhere, that brings a reference into a box under the name of the exercise."""
    for seen in boxes_of(name):
        asked = {EXERCISES[check].function for check in seen.checks}
        assert not {file for file in seen.files if file.startswith("shared/exercises/catalogue")}
        assert {file: asked & _defined(file) for file in seen.files if asked & _defined(file)} == {}


def _defined(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@pytest.mark.slow
def test_what_travels_into_a_box_names_no_reference_and_nothing_that_the_box_lacks():
    """Catches a case, a call or a result that takes its exercise along, and a module that `shows` forgets."""
    for check, named in inside("travelling").items():
        shown = modules.files((*modules.CALLING, *EXERCISES[check].shows))
        lacking = {module for module, _ in named if f"{module.replace('.', '/')}.py" not in shown}
        assert (check, lacking, OF_A_REFERENCE & {name for _, name in named}) == (check, set(), set())


def looking(name, isolation, *planted):
    """The findings of a search in each box of a notebook."""
    return inside("looking", name, json.dumps(asdict(isolation)), *planted)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_box_is_a_reference_or_passes_a_check_of_that_box(name, isolation):
    """Catches a reference under whatever name: every callable that a student can reach is tried as the answer.

    References are looked for in memory, on disk and in what is imported: by split names, pkgutil, sys.modules, gc,
    frames and files.
    """
    for found in looking(name, isolation):
        assert found["callables"] >= FEWEST
        assert found["passing"] == {check: [] for check in found["passing"]}
        assert found["routes"] == {}


@pytest.mark.slow
def test_a_planner_that_lies_in_a_box_is_found(isolation):
    """Catches a search that finds nothing because it does not look."""
    (found,) = looking("maxent_irl.ipynb", isolation, "shared.irl.planning")
    assert "shared.irl.planning.local_action_probabilities" in found["passing"]["local_action_probabilities"]


@pytest.mark.slow
def test_a_catalogue_that_lies_in_a_box_is_found(isolation):
    """Catches a search that finds nothing because it does not look."""
    (found,) = looking("analogies.ipynb", isolation, "shared.exercises.catalogue.analogies.soft_score")
    assert found["passing"]["soft_score"]
    assert {"by_a_split_name", "by_pkgutil", "by_sys_modules", "by_gc", "by_files"} <= found["routes"].keys()


CATALOGUE = "importlib.import_module('sha' + '{place}'[3:]).EXERCISE.reference()"
IN_MEMORY = "next(o for o in gc.get_objects() if type(o).__name__ == 'Exercise' and o.function == '{name}').reference()"
OF_THE_COURSE = "getattr(importlib.import_module('sha' + 'red.irl.planning'), '{name}')"
LITERAL = "from shared.tasks.countdown import {name} as found"
CHEATS = [
    ("dots.ipynb", CATALOGUE),
    ("analogies.ipynb", CATALOGUE),
    ("analogies.ipynb", IN_MEMORY),
    ("maxent_irl.ipynb", CATALOGUE),
    ("maxent_irl.ipynb", OF_THE_COURSE),
    ("countdown.ipynb", LITERAL),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cheat"), CHEATS)
def test_who_looks_for_the_reference_earns_nothing(name, cheat, isolation, tmp_path):
    """Catches points for a function that somebody else wrote: these earned nearly all points once."""
    worked = read_worked_notebook(ROOT / "notebooks" / name)
    cells = [code(_cheating(check, cheat)) for check in worked.checks]
    path = tmp_path / name
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    key = ReferenceProcess(20_261_123)
    found = verdicts(programs_of(definitions(read(path)), worked, key), Grader(key, isolation, Limits(wall=400)))
    key.close()
    assert {check.name: verdict.earned for check, verdict in found.items()} == {c.name: 0.0 for c in worked.checks}


def _cheating(check, cheat):
    """A cell that defines a check's function by what the cheat finds for it."""
    found = cheat.format(name=check.function, place=f"shared.exercises.catalogue.{PLACES[check.name]}")
    if cheat == LITERAL:
        return f"{found}\ndef {check.function}(*a, **k):\n    return found(*a, **k)"
    return f"import gc, importlib\ndef {check.function}(*a, **k):\n    return {found}(*a, **k)"


def test_a_reward_of_the_task_may_not_be_imported():
    """Catches `from shared.tasks.countdown import correctness_reward`, which was right in every hidden case."""
    known = read_worked_notebook(ROOT / "notebooks" / "countdown.ipynb").definitions
    allowed = slice_of("correctness_reward", known, known).imports
    assert modules.refused(["shared.tasks.countdown.correctness_reward"], allowed)
    assert "shared/tasks/countdown.py" not in modules.files(allowed)
    assert not modules.refused(["shared.tasks.arithmetic.is_expression"], allowed)


@pytest.mark.parametrize(("notebook", "name"), [("what_rl_adds", "rejection_sampling")])
def test_the_librarys_evaluation_may_not_be_imported(notebook, name):
    """Catches points for `shared.evaluate.evaluate`, which the check lets a student call and grading does not."""
    known = read_worked_notebook(ROOT / "notebooks" / f"{notebook}.ipynb").definitions
    allowed = slice_of(name, known, known).imports
    assert modules.refused(["shared.evaluate.evaluate"], allowed)
    assert "shared/evaluate.py" not in modules.files(allowed)


@pytest.mark.parametrize("name", NAMES)
def test_no_slice_of_a_worked_function_loads_or_trains_a_model(name):
    """Catches a rule for slices that drags a notebook's training into the function of an exercise."""
    worked = read_worked_notebook(ROOT / "notebooks" / name)
    cases = hidden_cases_without_the_cases(check.name for check in worked.checks)
    programs = [function.program for function in hidden_cases.programs(worked.definitions, worked, cases).values()]
    computing = [line for program in programs for line in program.statements if not _defines(line)]
    assert programs and computing == []
    assert not any(program.warnings or program.problem for program in programs)


def _defines(statement):
    (node,) = ast.parse(statement).body
    is_a_table = isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and ast.literal_eval(node.value)
    return is_a_table or isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))
