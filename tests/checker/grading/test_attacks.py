"""Hostile submissions: nothing happens to the grader."""

import pytest

from benchmarks.attacks import ATTACKS, held

AT_EVERY_TEST = ("read the grader's environment", "network", "memory in three processes", "kill the parent")
CASES = [attack if attack.name in AT_EVERY_TEST else pytest.param(attack, marks=pytest.mark.slow) for attack in ATTACKS]


@pytest.mark.parametrize("attack", CASES, ids=lambda attack: attack.name)
def test_attack_gets_nothing_and_leaves_nothing(attack, isolation):
    """Catches every hole of the box that an attack of the list knows: each is a way that was seen to work elsewhere."""
    seen = held(attack, isolation)
    assert seen.got == ""
    assert seen.outside == ""
    assert attack.ended in seen.ended
    assert seen.seconds < 30  # the box's own limit is 20 s: it was never the grader that had to wait
