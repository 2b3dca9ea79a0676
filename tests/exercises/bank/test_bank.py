"""The checks against functions of readers who had seen the blank editions and nothing of a check."""

import random
from collections import defaultdict

import pytest

from shared.check import EXERCISES
from shared.exercises.catalogue import PLACES
from tests.exercises.bank.holding import corrections, held, tally, unnamed
from tests.exercises.bank.reading import banks, without_names

BLOCKS = [block for bank in banks().values() for block in bank]
# Exercises that were written after the banks.
YOUNGER = {"promise", "pull", "constrained_logps"} | {
    name for name, place in PLACES.items() if place.startswith(("async_rl.", "judges."))
}


def test_what_the_banks_hold():
    """Catches blocks that are not read, such as those behind a head of another form, and checks without any."""
    said = [block.said for block in BLOCKS]
    assert said.count("wrong") >= 650 and said.count("right") >= 400
    checks = {block.check for block in BLOCKS}
    assert checks == set(EXERCISES) - YOUNGER


def test_what_is_listed_is_in_a_bank():
    """Catches a reason that outlived its function, and one that stands in both lists."""
    names = [block.name for block in BLOCKS]
    assert len(set(names)) == len(names)
    assert {*corrections(), *unnamed()} <= set(names)
    assert not set(corrections()) & set(unnamed())


def test_functions_that_differ_in_names_alone_lie_in_one_half():
    """Catches a held-out function that was read in the other half."""
    one, other = "def f(a):\n    b = a + 1\n    return b\n", "def f(x):\n    # one more\n    y = x + 1\n    return y\n"
    assert without_names(one) == without_names(other) != without_names(one.replace("+ 1", "+ 2"))
    halves = defaultdict(set)
    for bank, found in banks().items():
        for block in found:
            halves[without_names(block.source)].add(bank)
    assert all(len(found) == 1 for found in halves.values())


@pytest.mark.slow
@pytest.mark.usefixtures("patient_judge")
@pytest.mark.parametrize("most", [4, pytest.param(None, marks=pytest.mark.exhaustive)], ids=["a few", "all"])
@pytest.mark.parametrize("check", sorted({block.check for block in BLOCKS}))
def test_right_ones_pass_and_wrong_ones_are_named_but_for_those_that_are_listed(check, most):
    """Catches a check that asks for what no page says, cases that leave a mistake open, and a slip that is lost.

    All three thousand take half an hour, so they are held by hand when a check was changed.
    """
    of_check = [block for block in BLOCKS if block.check == check]
    if most is not None:
        of_check = random.Random(check).sample(of_check, most)
    found = tally([held(block) for block in of_check])
    listed = {block.name for block in of_check} & set(unnamed())
    assert (found["refused"], found["passing"], set(found["without a name"])) == ([], [], listed)
