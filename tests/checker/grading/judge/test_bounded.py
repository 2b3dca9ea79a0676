"""Whatever reads a submission outside of a box is done in a bounded time, however the submission is written."""

import json
import random
import time

import pytest

from checker.checking.check import check
from checker.grading.judge.hidden_cases import programs
from checker.grading.judge.reference_process import HiddenCases
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.reading.notebook import read
from checker.reading.syntax.statements import definitions
from checker.setup.environment import ROOT
from tests.checker.conftest import code

WORKED = read_worked_notebook(ROOT / "notebooks" / "poker.ipynb")
CASES = HiddenCases(tuple(check.name for check in WORKED.checks), "", ())
FUNCTION = "weighted_reward"
LONGEST = 2.0  # seconds of computing for one notebook
MODEL = "from shared.models import load_policy\nmodel = load_policy()"


def pairs(n):
    """Each name is made of the two before: without memory, that is 1.6 times the work with every line."""
    return ["Y0 = 1", "Y1 = 1", *(f"Y{k} = (Y{k - 1}, Y{k - 2})" for k in range(2, n)), f"LAST = Y{n - 1}"]


def chained(n):
    return ["Y0 = 1", *(f"Y{k} = Y{k - 1}" for k in range(1, n)), f"LAST = Y{n - 1}"]


def left_out_from_the_end(n):
    """A name that is not shown is found last, and the search then goes through all names backwards."""
    return [f"LAST = Y{n}", *(f"Y{k} = Y{k - 1}" for k in range(n, 0, -1)), MODEL, "Y0 = model"]


def appended(n):
    return ["LAST = []", MODEL, *["LAST.append(model(LAST))"] * n]


def defined_again(n):
    return [f"def {FUNCTION}(hand):\n    return LAST", f"check.{FUNCTION}({FUNCTION})"] * n


def calling_each_other(n):
    return [f"def f{k}():\n    return f{(k * 7) % n}(), f{(k * 3) % n}()" for k in range(n)] + ["LAST = f1"]


def in_one_line(n):
    return [f"{', '.join(f'a{k}' for k in range(n))} = [0] * {n}", f"LAST = [{', '.join(f'a{k}' for k in range(n))}]"]


def of_many_digits(n):
    return [f"LAST = 0x{'f' * 6 * n}", f"OTHER = {'7' * 6 * n}", f"RATE = LAST * {'7' * min(n, 4000)}"]


def nested(n):
    return [f"LAST = {'(' * min(n, 140)}1{',)' * min(n, 140)}", f"DEEP = {'-' * n}1"]


def with_stars(n):
    return [*(f"from module_{k} import *" for k in range(n)), "LAST = [unknown_1, unknown_2]"]


def of_magic(n):
    return ["if True:\n    %time x", "!pip install \\\n    torch", "a b, c d = = =  %x", "LAST = 1"] * n


KINDS = (
    pairs,
    chained,
    left_out_from_the_end,
    appended,
    defined_again,
    calling_each_other,
    in_one_line,
    of_many_digits,
    nested,
    with_stars,
    of_magic,
)


def seconds(lines, tmp_path):
    """The processor seconds that a notebook of these lines takes, and the slice of its function."""
    cells = ["\n".join(lines), f"def {FUNCTION}(hand):\n    return LAST", f"check.{FUNCTION}({FUNCTION})"]
    path = tmp_path / "poker.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [*map(code, cells)]}))
    begun = time.process_time()
    found = programs(definitions(read(path)), WORKED, CASES)
    check(path)
    by_function = {check.function: function.program for check, function in found.items()}
    return time.process_time() - begun, by_function[FUNCTION]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_notebook_that_is_made_to_stop_the_grader_does_not(kind, tmp_path):
    """Catches a reading of the notebook whose time grows with the square, or with a power, of the notebook's length."""
    took, taken = seconds(kind(1200), tmp_path)
    assert not taken.problem and took < LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_mixtures_of_them_take_two_seconds_each_at_most(count, tmp_path):
    """Catches a mixture of them that does."""
    chance = random.Random(20_261_123)
    longest = 0.0
    for _ in range(count):
        lines = [line for kind in chance.sample(KINDS, 3) for line in kind(chance.randint(2, 250))]
        if chance.random() < 0.5:
            chance.shuffle(lines)
        longest = max(longest, seconds(lines, tmp_path)[0])
    assert longest < LONGEST
