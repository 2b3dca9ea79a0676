"""Hostile submissions: nothing happens to the grader."""

import pytest

from benchmarks.attacks import ATTACKS, held
from checker.grading.box.walls import Isolation

AT_EVERY_TEST = (
    "read the grader's environment",
    "a port of the grader",
    "network",
    "memory in three processes",
    "kill the parent",
)
HARMLESS = [attack for attack in ATTACKS if attack.harmless]
CASES = [attack if attack.name in AT_EVERY_TEST else pytest.param(attack, marks=pytest.mark.slow) for attack in ATTACKS]


@pytest.mark.parametrize("attack", CASES, ids=lambda attack: attack.name)
def test_attack_gets_nothing_and_leaves_nothing(attack, isolation):
    """Catches every hole of the box that an attack of the list knows: each is a way that was seen to work elsewhere."""
    seen = held(attack, isolation)
    assert seen.got == ""
    assert seen.outside == ""
    assert attack.ended in seen.ended
    assert seen.seconds < 30  # the box's own limit is 20 s: it was never the grader that had to wait


@pytest.mark.parametrize("attack", HARMLESS, ids=lambda attack: attack.name)
def test_without_a_box_it_gets_what_it_is_after(attack):
    """Catches an attack that gets nothing anywhere, whose row of the table says that a box holds it."""
    assert held(attack, Isolation("none")).got != ""
