"""Find the number: the game's answers and its end, rewards, ranges that are held out, and what chance alone wins."""

import random
from collections import Counter

import pytest

from shared.models import load_tokenizer
from shared.prompts import max_new_tokens_for
from shared.tasks import game
from shared.tasks.game import FindTheNumber, agreeing, dataset, played_at_random, random_games, ranges, row_of


def play(secret: int, *said: str) -> tuple[FindTheNumber, str]:
    """The game from 1 to 7 after the policy said this, one character after the other, and the whole text."""
    played = FindTheNumber(row_of(1, 7, secret))
    text = ""
    for character in "".join(said):
        if not played.done:
            text += character
            text += played.say(text)
    return played, text


def test_guesses_are_answered_and_the_third_or_the_right_one_ends():
    won, text = play(5, " 4?", " 6?", " 5?", " 1?")
    assert text == " 4? low\n 6? high\n 5? right\n" and won.won and won.done and won.guesses == [4, 6, 5]
    lost, text = play(5, " 1?", " 2?", " 3?", " 5?")
    assert text == " 1? low\n 2? low\n 3? low\n" and lost.done and not lost.won
    first, text = play(4, " 4?")
    assert text == " 4? right\n" and first.won and first.done
    assert not play(4, " 4")[0].done and play(4, "4?")[0].won


@pytest.mark.parametrize("said", ["?", " 12?", " 4.", "\n", " four?", " 4 right\n", " right\n", "  4?", " -1?", " ４?"])
def test_anything_but_a_guess_loses(said):
    """Catches a policy that wins by writing the answer itself, and one that goes on after nonsense."""
    played, text = play(4, said, " 4?")
    assert played.done and not played.won and not played.guesses and said.startswith(text)


def test_a_longer_game_has_its_own_rules():
    """Catches a game that takes the second digit for the number, and one that ends by the rules of another."""

    class Longer(FindTheNumber):
        most_guesses = 4
        most_digits = 2

    played = Longer(row_of(1, 15, 12))
    assert played.say(" 1") == "" and not played.done
    assert played.say(" 14?") == " high\n" and played.guesses == [14]
    text = " 14? high\n 3? low\n 10? low\n"
    assert [played.say(text[:end]) for end in (13, 22)] == [" low\n", " low\n"] and not played.done
    assert played.say(text + " 123") == "" and played.done and not played.won


def test_a_number_outside_of_the_range_is_a_guess():
    assert play(5, " 9?", " 0?")[1] == " 9? high\n 0? low\n"


def test_the_reward_is_the_games_and_never_the_texts():
    """Catches a reward that believes " right" where the policy wrote it."""
    games = [play(4, " 4?")[0], play(4, " 1?", " 2?", " 3?")[0], play(4, "")[0]]
    texts = ["", " 4? right\n", " right\n"]
    assert game.reward([""] * 3, texts, environments=games, secret=[4] * 3) == [1.0, 0.0, 0.0]


def test_which_guesses_agree_with_the_answers_before_them():
    """Catches a guess that is asked again, one beyond an answer, and one outside of the range."""
    assert agreeing(play(5, " 4?", " 6?", " 5?")[0]) == [True, True, True]
    assert agreeing(play(5, " 4?", " 4?", " 3?")[0]) == [True, False, False]
    assert agreeing(play(5, " 8?", " 6?", " 7?")[0]) == [False, True, False]
    assert agreeing(play(1, " 4?", " 7?", " 2?")[0]) == [True, False, True]
    assert agreeing(play(1)[0]) == []


def test_of_every_width_about_a_quarter_of_the_ranges_is_held_out():
    """Catches a split in which one side has the wide ranges, so that its rows are harder than the other's."""
    held_out = Counter(high - low + 1 for low, high in ranges("eval"))
    trained = Counter(high - low + 1 for low, high in ranges("train"))
    assert not set(ranges("eval")) & set(ranges("train")) and set(held_out) == set(trained) == set(game.WIDTHS)
    for width in game.WIDTHS:
        assert held_out[width] + trained[width] == 11 - width
        assert abs(held_out[width] - (11 - width) / 4) <= 0.5
    assert all(0 <= low < high <= 9 for low, high in ranges("train"))


def test_rows_are_all_secrets_of_all_ranges():
    for split, count in (("train", 128), ("eval", 54)):
        rows = dataset(split, count)
        assert len({(row["low"], row["high"], row["secret"]) for row in rows}) == count
        assert {(row["low"], row["high"]) for row in rows} == set(ranges(split))
        assert all(row["low"] <= row["secret"] <= row["high"] and row["prompt"].endswith(":\n") for row in rows)
        assert dataset(split, 20, seed=1) == dataset(split, 20, seed=1) != dataset(split, 20, seed=2)
        with pytest.raises(ValueError, match=f"only {count} exist"):
            dataset(split, count + 1)


def test_random_games_are_of_training_rows_and_say_where_the_game_spoke():
    """Catches documents that teach a held-out range, play better than chance, or say a wrong place."""
    documents = random_games(400, seed=1)
    assert documents == random_games(400, seed=1) != random_games(400, seed=2)
    trained = {row["prompt"] for row in dataset("train", 128)}
    guesses = []
    for document in documents:
        assert document["prompt"] in trained
        spoken = [document["completion"][start:stop] for start, stop in document["spoken"]]
        assert set(spoken) <= {" low\n", " high\n", " right\n"} and document["spoken"][-1][1] == len(
            document["completion"]
        )
        own = "".join(
            c for i, c in enumerate(document["completion"]) if not any(a <= i < b for a, b in document["spoken"])
        )
        assert own.count("?") == len(spoken) <= game.GUESSES
        guesses += [int(digit) for digit in own.replace("?", "").split()]
    assert set(guesses) == set(range(10))


def test_chance_wins_three_sevenths_less_what_is_guessed_twice():
    """1 to 7, every secret 2,000 times: three independent guesses win 1 - (6/7)^3 = 0.370 of the games."""
    rng = random.Random(0)
    won = [
        played_at_random(row_of(1, 7, secret), rng)["completion"].endswith("right\n")
        for secret in range(1, 8)
        for _ in range(2000)
    ]
    assert sum(won) / len(won) == pytest.approx(1 - (6 / 7) ** 3, abs=0.015)


def test_the_longest_completion_is_a_game_to_its_end():
    """Catches a room that was counted on a shorter game, in which the third guess has no answer."""
    (longest,) = game.LONGEST_ANSWERS
    assert play(5, " 7?", " 6?", " 5?")[1] == longest
    assert all(len(document["completion"]) <= len(longest) for document in random_games(400))
    assert max_new_tokens_for(load_tokenizer(), game) == game.MAX_NEW_TOKENS
