"""Wrong poker oracles: `f(cards) -> type`, five cards such as "T♥"."""

from collections import Counter

from shared.exercises.mistakes import Mistakes
from shared.tasks.poker import RANKS, hand_type

MISTAKES = Mistakes()


def _counts(cards):
    return sorted(Counter(card[0] for card in cards).values(), reverse=True)


def _places(cards):
    return sorted(RANKS.index(card[0]) for card in cards)


@MISTAKES.known(
    "A-2-3-4-5 is missing: the ace also stands below the two. One straight in ten is then a wrong label, in training "
    "and in evaluation."
)
def low_straight_missed(cards):
    right = hand_type(cards)
    low = {card[0] for card in cards} == set("A2345")
    return {"straight": "high card", "straight flush": "flush"}.get(right, right) if low else right


@MISTAKES.known("T-J-Q-K-A is missing: the ace stands above the king as well.")
def high_straight_missed(cards):
    right = hand_type(cards)
    high = {card[0] for card in cards} == set("TJQKA")
    return {"straight": "high card", "straight flush": "flush"}.get(right, right) if high else right


@MISTAKES.known("Your straights go around the corner: Q-K-A-2-3 is none. The ace is the lowest or the highest card.")
def around_the_corner(cards):
    places = set(_places(cards))
    around = any(places == {(start + i) % 13 for i in range(5)} for start in range(13))
    flush = len({card[1] for card in cards}) == 1
    if around:
        return "straight flush" if flush else "straight"
    return hand_type(cards)


@MISTAKES.known(
    "Five ranks within a span of five are taken for a straight although two of them are equal. Ask for five different "
    "ranks first."
)
def pairs_within_a_straight(cards):
    places = _places(cards)
    if places[-1] - places[0] <= 4 and len({card[1] for card in cards}) > 1:
        return "straight"
    return hand_type(cards)


@MISTAKES.known("A full house is called three of a kind: look for (3, 2) before you look for a 3.")
def full_house_missed(cards):
    return "three of a kind" if _counts(cards) == [3, 2] else hand_type(cards)


@MISTAKES.known("Two pair is called one pair: count how many pairs there are.")
def two_pair_missed(cards):
    return "one pair" if _counts(cards) == [2, 2, 1] else hand_type(cards)


@MISTAKES.known("Four of a kind is called two pair: the test for pairs comes first and four cards hold two pairs.")
def four_as_two_pair(cards):
    return "two pair" if _counts(cards) == [4, 1] else hand_type(cards)


@MISTAKES.known("Four cards of a suit are taken for a flush. All five must agree.")
def four_of_a_suit(cards):
    right = hand_type(cards)
    return "flush" if right == "high card" and max(Counter(card[1] for card in cards).values()) == 4 else right


@MISTAKES.known("Flushes are missing: compare the suits, the second character of each card.")
def suits_ignored(cards):
    right = hand_type(cards)
    return {"flush": "high card", "straight flush": "straight"}.get(right, right)


@MISTAKES.known(
    "A straight flush is called a flush. It is named by itself here, so that no data set can hold one by accident."
)
def straight_flush_as_flush(cards):
    right = hand_type(cards)
    return "flush" if right == "straight flush" else right


@MISTAKES.known("Only neighbours in the order of the cards are compared. A hand has no order: sort the ranks first.")
def order_matters(cards):
    places = [RANKS.index(card[0]) for card in cards]
    steps = {b - a for a, b in zip(places, places[1:])}
    right = hand_type(cards)
    if right in ("straight", "straight flush") and steps not in ({1}, {-1}):
        return "high card" if right == "straight" else "flush"
    return right
