import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tasks import countdown
from shared.tasks.arithmetic import evaluate
from shared.tasks.tags import parse, tagged


def test_every_problem_can_be_solved():
    for split in ("train", "eval"):
        for row in countdown.dataset(split, 300):
            assert countdown.solves(row["answer"], row["numbers"], row["target"]), row


def test_a_problem_comes_once_however_its_numbers_are_arranged():
    """Catches 4 3 = 12 in a batch beside 3 4 = 12, as if they were two problems."""
    rows = countdown.dataset("train", 600)
    assert len({(*sorted(row["numbers"]), row["target"]) for row in rows}) == 600


def test_each_number_is_used_as_often_as_it_is_given():
    assert countdown.solves("2 + 2 + 3", [2, 3, 2], 7)
    assert not countdown.solves("2 + 3", [2, 3, 2], 5) and not countdown.solves("2 + 2 + 3", [2, 3], 7)


def test_the_steps_of_a_solution_are_its_expression():
    rng = random.Random(0)
    for _ in range(500):
        solution = countdown.combine(rng.choices(range(1, 11), k=rng.randint(2, 4)), rng)
        assert evaluate(solution.expression)[0] == solution.value
        for step in solution.working.splitlines():
            left, right = step.split(" = ")
            assert evaluate(left)[0] == int(right)


@pytest.mark.parametrize(
    ("expression", "right"),
    [
        ("3 * 8 - 2", True),
        ("(3*8)-2", True),
        ("8 * 3 - 2", True),
        ("22", False),
        ("3 * 8 - 2 + 0", False),
        ("3 * 8 - 1 - 1", False),
        ("8 + 8 + 8 - 2", False),
        ("38 - 16", False),
        ("3 * 8 - 2 = 22", False),
        ("it is 3 * 8 - 2", False),
        ("3 * 8 - 2 # 22", False),
        ("", False),
        ("3 + 8 * 2", False),
    ],
)
def test_each_given_number_exactly_once_and_the_target(expression, right):
    """Digits glued together, numbers left out, repeated or added: the ways around the rule."""
    assert countdown.solves(expression, [3, 8, 2], 22) is right
    assert countdown.correctness_reward([""], [tagged("so", expression)], [[3, 8, 2]], [22]) == [float(right)]


def test_format_pays_half_when_the_answer_holds_more_than_an_expression():
    completions = [
        tagged("so", "3 * 8 - 2"),
        tagged("so", "it is 3 * 8 - 2"),
        tagged("so", "3 * 8 - 2 = 22"),
        "3 * 8 - 2",
    ]
    assert countdown.format_reward([""] * 4, completions) == [1.0, 0.5, 0.5, 0.0]


@given(st.text())
def test_rewards_take_any_text(text):
    for completion in (text, tagged("so", text)):
        assert countdown.reward(["x"], [completion], [[3, 8, 2]], [22])[0] in (0.0, 0.25, 0.5, 1.0)


def test_answer_keys_are_right():
    for text in islice(countdown.documents(random.Random(3)), 400):
        if text.startswith("answer key\n"):
            numbers, target = text.split("Use ")[1].split(" once each to make ")
            completion = text[text.index("<think>\n") :]
            reward = countdown.correctness_reward(
                [""], [completion], [list(map(int, numbers.split()))], [int(target.split(".")[0])]
            )
            assert reward == [1.0], text


@given(st.lists(st.integers(1, 9), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_what_a_solution_reaches_is_reachable(numbers, rng):
    assert countdown.reachable(numbers, countdown.combine(numbers, rng).value)


@pytest.mark.parametrize(
    ("numbers", "target", "possible"),
    [
        ([8, 3, 8, 3], 24, True),
        ([1, 1], 3, False),
        ([2, 2, 2], 23, False),
        ([5], 5, True),
        ([5], 4, False),
        ([7, 7], 0, True),
    ],
)
def test_reachable_tries_fractions_and_gives_up_on_the_impossible(numbers, target, possible):
    """8 / (3 - 8 / 3) needs a fraction on the way: with whole numbers alone it is missed."""
    assert countdown.reachable(numbers, target) is possible


@pytest.mark.parametrize(
    ("working", "sound"),
    [
        ("3 * 8 = 24\n24 - 2 = 22", 2),
        ("3 * 8 = 24\n24 + 2 = 22", 1),  # the equation is wrong
        ("3 * 8 = 24\n24 + 2 = 26", 1),  # right, and not the target
        ("3 + 8 = 11\n11 * 2 = 22", 2),  # another way
        ("3 - 2 = 1\n8 * 1 = 8", 0),  # right, and a dead end from the first line
        ("3 * 9 = 27\n27 - 5 = 22", 0),  # 9 was not given
        ("3 * 3 = 9\n9 + 8 = 17", 0),  # 3 was given once
        ("3 * 8 = 24\n3 - 2 = 1", 1),  # 3 is used up
        ("so: 3 * 8 = 24", 0),
        ("3 * 8 = ٢٤", 0),
        ("3 / 0 = 3", 0),
    ],
)
def test_sound_lines_come_before_the_first_mistake(working, sound):
    assert countdown.sound_lines(tagged(working, "22"), [3, 8, 2], 22) == sound
    assert countdown.sound_lines(working, [3, 8, 2], 22) == 0, "without the format"


@given(st.text())
def test_sound_lines_take_any_text(text):
    for completion in (text, tagged(text, text)):
        assert countdown.sound_lines(completion, [3, 8, 2], 22) in (0, 1, 2)


def test_a_guess_is_legal_and_never_looks_at_the_target():
    """Catches a control that plays another game: it keeps the format and uses each number once."""
    rng = random.Random(0)
    guesses = [countdown.guess([3, 8, 2], rng) for _ in range(50)]
    assert countdown.format_reward([""] * 50, guesses) == [1.0] * 50
    assert all(sorted(evaluate(parse(text)[1])[1]) == [2, 3, 8] for text in guesses)
    assert 5 < len(set(guesses))
