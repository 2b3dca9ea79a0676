"""The checks against functions of readers who had seen the blank editions and nothing of a check."""

from collections import defaultdict
from functools import cache

import pytest

from shared.check import EXERCISES
from tests.exercises.bank.holding import corrections, held, tally
from tests.exercises.bank.reading import HALVES, blocks, without_names

NAMED = {"mend": 0.97, "held_out": 0.97}  # shares that were measured, less what time may cost on a busy machine


def test_what_the_bank_holds():
    """Catches blocks that are not read, such as those behind a head of another form, and checks without any."""
    said = [block.said for block in blocks()]
    assert said.count("wrong") >= 300 and said.count("right") >= 150
    assert len({block.check for block in blocks()}) >= 50 and {block.check for block in blocks()} <= set(EXERCISES)
    assert set(corrections()) <= {block.name for block in blocks()}


def test_functions_that_differ_in_names_alone_lie_in_one_half():
    """Catches a held-out function that was read in the other half."""
    one, other = "def f(a):\n    b = a + 1\n    return b\n", "def f(x):\n    # one more\n    y = x + 1\n    return y\n"
    assert without_names(one) == without_names(other) != without_names(one.replace("+ 1", "+ 2"))
    halves = defaultdict(set)
    for block in blocks():
        halves[without_names(block.source)].add(block.half)
    assert all(len(found) == 1 for found in halves.values())


@cache
def tally_of(half: str) -> dict:
    return tally([held(block) for block in blocks(half)])


@pytest.mark.slow
@pytest.mark.parametrize("half", HALVES)
def test_no_right_function_is_refused_and_no_wrong_one_accepted(half):
    """Catches a check that asks for what no page says, and cases that leave a mistake open."""
    found = tally_of(half)
    assert (found["refused"], found["passing"]) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("half", HALVES)
def test_as_many_mistakes_are_named_as_were(half):
    """Catches a slip that is lost."""
    found = tally_of(half)
    named = found["named by a slip"] + found["named by a fact"]
    assert named / found["wrong"] >= NAMED[half]
