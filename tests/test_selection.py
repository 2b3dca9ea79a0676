"""One answer from several samples: the vote, the best by a score, and what n of them are worth."""

import itertools
import random
from collections import Counter

import pytest

from shared.selection import best_of_n, vote
from shared.statistics import pass_at_k


def test_the_most_frequent_answer_wins_and_the_first_of_a_tie():
    """Catches a tie that goes to the smallest in the alphabet, or to the last."""
    assert vote(["3", "4", "4"]) == "4"
    assert vote(["b", "a", "a", "b"]) == "b" and vote(["a", "b", "b", "a"]) == "a"
    assert vote(["7"]) == "7"


def test_who_abstains_has_no_vote():
    """Catches remarks without an answer that win because there are many of them."""
    assert vote(["", "", "", "3"]) == "3"
    assert vote(["", ""]) == "" and vote([]) == ""


def test_the_first_of_a_tie_is_a_fair_draw_among_the_tied():
    """Over all orders of the same ballots each of the tied wins as often."""
    wins = Counter(vote(order) for order in itertools.permutations(["a", "a", "b", "b", "c", ""]))
    assert set(wins) == {"a", "b"} and wins["a"] == wins["b"]


def by_going_through_all_choices(scores, rewards, n):
    """The definition: the mean, over all choices of n, of the reward of the best; the best of a tie by a fair draw."""
    chosen = list(itertools.combinations(zip(scores, rewards), n))
    total = 0.0
    for group in chosen:
        top = max(score for score, _ in group)
        earned = [reward for score, reward in group if score == top]
        total += sum(earned) / len(earned)
    return total / len(chosen)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("levels", [2, 3, 100])
def test_best_of_n_is_the_mean_over_all_choices_of_n(n, levels):
    """Catches a sort by the reward, weights of C(i, n), and the tied who are counted by their order. Enumerated."""
    rng = random.Random(levels)
    for _ in range(20):
        scores = [rng.randrange(levels) for _ in range(6)]
        rewards = [rng.random() for _ in range(6)]
        assert best_of_n(scores, rewards, n) == pytest.approx(by_going_through_all_choices(scores, rewards, n))


def test_best_of_n_by_the_reward_itself_is_pass_at_k():
    for right, n in itertools.product(range(9), range(1, 9)):
        rewards = [1.0] * right + [0.0] * (8 - right)
        assert best_of_n(rewards, rewards, n) == pytest.approx(pass_at_k(8, right, n))


def test_a_judge_that_overrates_makes_more_samples_worse():
    """The sign: a wrong sample with the highest score is the best of all of them, and of few rarely there."""
    scores, rewards = [0.1, 0.5, 0.9], [0.0, 1.0, 0.0]
    assert [best_of_n(scores, rewards, n) for n in (1, 2, 3)] == pytest.approx([1 / 3, 1 / 3, 0.0])


@pytest.mark.parametrize("n", [0, 4])
def test_more_than_were_drawn_cannot_be_told(n):
    with pytest.raises(ValueError, match="between 1 and 3"):
        best_of_n([1.0, 2.0, 3.0], [0.0, 0.0, 1.0], n)
