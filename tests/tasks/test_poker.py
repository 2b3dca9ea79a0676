import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tasks import poker
from shared.tasks.split import split_of

# How many of the 2,598,960 hands are of each type, as every book on poker lists them.
KNOWN_COUNTS = {
    "high card": 1_302_540,
    "one pair": 1_098_240,
    "two pair": 123_552,
    "three of a kind": 54_912,
    "straight": 10_200,
    "flush": 5_108,
    "full house": 3_744,
    "four of a kind": 624,
    "straight flush": 40,
}


def test_the_oracle_counts_all_2598960_hands():
    """Every combination of ranks is asked once without and once with equal suits, and weighted by its suits."""
    counts = Counter()
    for ranks in itertools.combinations_with_replacement(poker.RANKS, 5):
        times = Counter(ranks)
        if max(times.values()) > 4:
            continue
        ways = int(np.prod([{1: 4, 2: 6, 3: 4, 4: 1}[k] for k in times.values()]))
        used = {rank: iter(poker.SUITS) for rank in times}
        mixed = [rank + next(used[rank]) for rank in ranks]
        if len(times) == 5:
            mixed[0] = ranks[0] + "♥"  # the others are spades
            counts[poker.hand_type([rank + "♣" for rank in ranks])] += 4
            ways -= 4
        counts[poker.hand_type(mixed)] += ways
    assert counts == KNOWN_COUNTS
    assert counts.total() == 2_598_960


def test_the_type_does_not_depend_on_order_or_on_which_suits():
    """The count above asks one hand for many: this is what it takes for granted."""
    rng = np.random.default_rng(0)
    deck = [r + s for r in poker.RANKS for s in poker.SUITS]
    for _ in range(300):
        cards = list(rng.choice(deck, 5, replace=False))
        turned = [c[0] + dict(zip(poker.SUITS, "♣♠♦♥"))[c[1]] for c in reversed(cards)]
        assert poker.hand_type(cards) == poker.hand_type(turned)


@pytest.mark.parametrize(
    ("hand", "label"),
    [
        ("A♠ 2♥ 3♦ 4♣ 5♠", "straight"),
        ("T♠ J♥ Q♦ K♣ A♠", "straight"),
        ("Q♠ K♥ A♦ 2♣ 3♠", "high card"),
        ("A♠ 2♠ 3♠ 4♠ 5♠", "straight flush"),
        ("2♥ 7♥ 9♥ J♥ K♥", "flush"),
        ("7♥ 7♠ 7♦ 2♣ 2♥", "full house"),
    ],
)
def test_hands_that_oracles_get_wrong(hand, label):
    """The ace is low in one straight, and no straight goes round the corner."""
    assert poker.hand_type(hand.split()) == label


def test_what_is_not_a_hand_is_refused():
    for cards in (["A♠"] * 5, "A♠ K♠ Q♠ J♠".split(), "A♠ K♠ Q♠ J♠ 10♠".split()):
        with pytest.raises(ValueError, match="five different cards"):
            poker.hand_type(cards)
    with pytest.raises(ValueError, match="choose one of high card"):
        poker.deal("royal flush", None)


@pytest.mark.parametrize("label", poker.LABELS)
def test_dealing_by_construction_gives_the_label(label):
    import random

    rng = random.Random(1)
    assert all(poker.hand_type(poker.deal(label, rng)) == label for _ in range(300))


def test_dealing_is_uniform_within_a_label():
    """A builder that favours some ranks or suits teaches a short cut: every card turns up as often as any other."""
    import random

    rng = random.Random(2)
    for label in ("high card", "one pair", "full house", "flush"):
        cards = Counter(card for _ in range(4000) for card in poker.deal(label, rng))
        expected = 20_000 / 52
        assert max(abs(n - expected) for n in cards.values()) < 5 * expected**0.5, label


def test_balanced_data_and_data_from_the_deck():
    balanced = Counter(row["answer"] for row in poker.dataset("train", 163))
    assert max(balanced.values()) - min(balanced.values()) == 1
    from_deck = Counter(row["answer"] for row in poker.dataset("train", 400, balanced=False))
    assert (from_deck["high card"] + from_deck["one pair"]) / 400 > 0.85


def test_hands_of_a_label_do_not_stand_together():
    """Catches a first batch of high cards alone."""
    answers = [row["answer"] for row in poker.dataset("train", 80)]
    assert sum(one == next_one for one, next_one in itertools.pairwise(answers)) < 40


def test_no_data_set_holds_a_straight_flush():
    """Catches the one hand in 65,000 that has no label; here the deck deals it first."""
    rng = SimpleNamespace(sample=lambda deck, count: hands.pop(0))
    for split in ("train", "eval"):
        others = [["A♠", "K♥", "7♦", "7♣", f"{rank}♠"] for rank in "2345689TJQ"]
        other = next(cards for cards in others if split_of(poker.canonical(cards)) == split)
        straight_flushes = [[rank + suit for rank in ranks] for ranks in poker.STRAIGHTS for suit in poker.SUITS]
        hands = [cards for cards in straight_flushes if split_of(poker.canonical(cards)) == split] + [other]
        assert len(hands) > 1 and poker.draw_hand(rng, split, balanced=False) == other


def test_rewards_and_weights():
    rows = poker.dataset("train", 80)
    prompts, answers = [r["prompt"] for r in rows], [r["answer"] for r in rows]
    weights = [r["weight"] for r in rows]
    assert sorted(set(weights)) == [1.0, 1.5, 2.0, 2.5, 3.0]
    right = [f" {answer.title()}\n" for answer in answers]
    assert poker.reward(prompts, right, answers) == [1.0] * 80
    assert poker.weighted_reward(prompts, right, answers, weights) == weights
    for wrong in ("", " pair", " two pair or one pair", " it is a flush"):
        assert sum(poker.reward(prompts, [wrong] * 80, answers)) == 0


@given(st.text())
def test_reward_takes_any_text(text):
    assert poker.reward(["Hand"], [text], ["flush"]) in ([0.0], [1.0])
