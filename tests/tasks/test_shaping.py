"""Rewards for a part of the way: what they pay, their holes, and the player that guesses."""

import random

import pytest

from shared.tasks import countdown
from shared.tasks.shaping import guess, near_miss_reward, sound_reward, uses_given_numbers
from shared.tasks.tags import tagged
from tests.exercises.right.what_rl_adds.near_miss import looped

NUMBERS, TARGET = [3, 8, 2], 22


@pytest.mark.parametrize(
    ("answer", "paid"),
    [("3 * 8 - 2", 1.0), ("3 * 8", 1 / 3), ("22", 1.0), ("45 / 2", 2 / 3), ("1 / 0", 0.0), ("it is 22", 0.0)],
)
def test_a_near_miss_is_paid_by_its_distance(answer, paid):
    """Catches a signed or a squared distance, a value cut to an integer, and a crash on what is no expression."""
    assert near_miss_reward([""], [tagged("so", answer)], [TARGET], numbers=[NUMBERS]) == [pytest.approx(paid)]
    assert near_miss_reward([""], [answer], [TARGET]) == [0.0], "outside the format nothing is paid"


def test_it_is_the_reward_of_the_exercise():
    completions = [tagged("so", answer) for answer in ("22", "3 - 8", "9 / 4", "x")]
    targets = [22, 1, 2, 3]
    assert near_miss_reward([""] * 4, completions, targets) == pytest.approx(looped([""] * 4, completions, targets))


def test_the_working_is_paid_line_by_line():
    """Catches a share of the lines written, which would pay a single right line in full."""
    workings = ("3 * 8 = 24\n24 - 2 = 22", "3 * 8 = 24\n24 - 2 = 21", "3 * 8 = 25\n25 - 2 = 23", "3 * 8 = 24")
    completions = [tagged(working, "3 * 8 - 2") for working in workings]
    assert sound_reward([""] * 4, completions, [NUMBERS] * 4, [TARGET] * 4) == [1.0, 0.5, 0.0, 0.5]


def test_whether_the_given_numbers_are_used():
    for answer, fair in (("8 - 3 - 2", True), ("3 * 8", False), ("3 * 8 - 2 - 2", False), ("22", False), ("so", False)):
        assert uses_given_numbers(tagged("so", answer), NUMBERS) == fair, answer
    assert not uses_given_numbers("8 - 3 - 2", NUMBERS)


def test_a_guess_is_legal_and_never_looks_at_the_target():
    """Catches a control that plays another game: it keeps the format and uses each number once."""
    rng = random.Random(0)
    guesses = [guess(NUMBERS, rng) for _ in range(50)]
    assert countdown.format_reward([""] * 50, guesses) == [1.0] * 50
    assert all(uses_given_numbers(text, NUMBERS) for text in guesses)
    assert 5 < len(set(guesses))
