"""The poker oracle: `hand_type(cards) -> label`, five cards such as "T♥"."""

from collections import Counter

from shared.exercises.arguments import Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Text
from shared.exercises.steps import Steps
from shared.tasks.poker import LABELS, RANKS, SUITS, deal

STEPS = Steps()
STRAIGHTS = [("A" + RANKS)[i : i + 5] for i in range(10)]  # from A-2-3-4-5 to T-J-Q-K-A


@STEPS.step
def ranks(cards):
    return [card[0] for card in cards]


@STEPS.step
def suits(cards):
    return [card[1] for card in cards]


@STEPS.step
def counts(ranks):
    """The number of times that each rank occurs, most frequent first."""
    return sorted(Counter(ranks).values(), reverse=True)


@STEPS.step
def straights():
    return STRAIGHTS


@STEPS.step
def straight(ranks, straights):
    return any(set(ranks) == set(run) for run in straights)


@STEPS.step
def flush(suits):
    return len(set(suits)) == 1


@STEPS.step
def of_counts(counts):
    """The label that equal ranks decide, "" for five different ones."""
    labels = {
        (4, 1): "four of a kind",
        (3, 2): "full house",
        (3, 1, 1): "three of a kind",
        (2, 2, 1): "two pair",
        (2, 1, 1, 1): "one pair",
    }
    return labels.get(tuple(counts), "")


@STEPS.step
def of_five_different(straight, flush):
    if straight and flush:
        return "straight flush"
    if straight:
        return "straight"
    return "flush" if flush else "high card"


@STEPS.step
def label(of_counts, of_five_different):
    return of_counts or of_five_different


@STEPS.slip(
    "straights",
    "A-2-3-4-5 is missing: the ace also stands below the two. One straight in ten is then a wrong label, in training "
    "and in evaluation.",
)
def low_straight_missed(straights):
    return [run for run in straights if run != "A2345"]


@STEPS.slip("straights", "T-J-Q-K-A is missing: the ace stands above the king as well.")
def high_straight_missed(straights):
    return [run for run in straights if run != "TJQKA"]


@STEPS.slip(
    "straights", "Your straights go around the corner: Q-K-A-2-3 is none. The ace is the lowest or the highest card."
)
def around_the_corner(straights):
    return [*straights, "JQKA2", "QKA23", "KA234"]


@STEPS.slip(
    "of_five_different",
    "T-J-Q-K-A in one suit is a straight in yours. Look at the suits of every straight before you answer.",
)
def highest_straight_before_suits(straight, flush, ranks):
    if set(ranks) == set("TJQKA"):
        return "straight"
    return of_five_different(straight, flush)


@STEPS.slip("of_counts", "A full house is called three of a kind: look for (3, 2) before you look for a 3.")
def full_house_missed(of_counts):
    return "three of a kind" if of_counts == "full house" else of_counts


@STEPS.slip(
    "of_five_different",
    "A straight flush is called a flush. It is named by itself here, so that no data set can hold one by accident.",
)
def straight_flush_as_flush(of_five_different):
    return "flush" if of_five_different == "straight flush" else of_five_different


@STEPS.slip("label", 'The plural is used: "two pairs". The label is "two pair".')
def plural(label):
    return "two pairs" if label == "two pair" else label


@STEPS.slip(
    "of_five_different", 'There is no "royal flush" among the labels: T-J-Q-K-A of one suit is a straight flush.'
)
def royal_flush(of_five_different, ranks):
    royal = of_five_different == "straight flush" and set(ranks) == set("TJQKA")
    return "royal flush" if royal else of_five_different


@STEPS.slip(
    "of_counts",
    "A pair within five ranks in a row is taken for a straight: highest and lowest are four apart, and two are equal. "
    "Ask for five different ranks first.",
)
def span_of_four(of_counts, ranks):
    places = [RANKS.index(rank) for rank in ranks]
    is_pair = of_counts in ("three of a kind", "two pair", "one pair")
    return "straight" if is_pair and max(places) - min(places) == 4 else of_counts


@STEPS.slip(
    "straight",
    "The ranks are sorted as characters, and J, K, Q and T do not stand there in their order: sort by the place in "
    "23456789TJQKA.",
)
def sorted_as_characters(ranks):
    return "".join(sorted(ranks)) in "A" + RANKS


@STEPS.slip(
    "of_counts",
    "Ranks that lie within a run are taken for a straight although some of them are equal. Ask for five different ranks "
    "first.",
)
def within_a_run(of_counts, ranks, straights):
    is_pair = of_counts in ("three of a kind", "two pair", "one pair")
    return "straight" if is_pair and any(set(ranks) <= set(run) for run in straights) else of_counts


@STEPS.slip("of_counts", "A full house is called two pair: three equal cards are not two. Ask for (3, 2) first.")
def full_house_as_two_pair(of_counts):
    return "two pair" if of_counts == "full house" else of_counts


@STEPS.slip("of_counts", "Three of a kind is called two pair: ask how often each rank occurs.")
def three_as_two_pair(of_counts):
    return "two pair" if of_counts == "three of a kind" else of_counts


@STEPS.slip(
    "of_counts",
    "Whatever has its highest and lowest rank four apart is a straight in yours, 3-3-3-7-7 too. Ask for five different "
    "ranks first.",
)
def any_span_of_four(of_counts, ranks):
    places = [RANKS.index(rank) for rank in ranks]
    return "straight" if of_counts and max(places) - min(places) == 4 else of_counts


@STEPS.slip(
    "of_counts",
    "One pair is called two pair: counted card by card, the two cards of a pair are two 2s. Count rank by rank.",
)
def one_pair_as_two(of_counts):
    return "two pair" if of_counts == "one pair" else of_counts


@STEPS.slip(
    "of_five_different",
    "A-2-3-4-5 in one suit is called a flush: yours looks for this straight only behind the flush. It is a straight flush "
    "like any other.",
)
def low_straight_behind_the_flush(of_five_different, ranks):
    low = of_five_different == "straight flush" and set(ranks) == set("A2345")
    return "flush" if low else of_five_different


def draw(draw: Draw) -> Case:
    kind = draw.choice([*LABELS, "straight flush", "nearly"])
    if kind == "straight flush":
        cards = [rank + suit for suit in [draw.choice(SUITS)] for rank in draw.choice(STRAIGHTS)]
    elif kind == "nearly":
        cards = _nearly(draw)
    else:
        cards = deal(kind, draw)
    draw.shuffle(cards)
    return {"cards": cards}


def _nearly(draw: Draw) -> list[str]:
    """A hand with one card changed: four to a straight, four of a suit, around the corner."""
    order = "A23456789TJQKA2345"
    start = draw.randrange(13)
    suit = draw.choice(SUITS)
    cards = [rank + draw.choice([suit, suit, suit, *SUITS]) for rank in order[start : start + 5]]
    changed = draw.randrange(6)
    while changed < 5:
        card = draw.choice(RANKS) + draw.choice(SUITS)
        if card not in cards:
            cards[changed] = card
            break
    return cards


def boundary() -> list[Case]:
    """Every straight, in order and mixed up and in one suit, and those that go around the corner; each other type."""
    hands = []
    for run in [*STRAIGHTS, "JQKA2", "QKA23", "KA234"]:
        mixed = [rank + suit for rank, suit in zip(run, "♠♥♦♣♠")]
        hands += [mixed, [mixed[place] for place in (2, 0, 4, 1, 3)], [rank + "♥" for rank in run]]
    others = """A♠ K♥ 7♦ 7♣ 2♠ | A♠ K♥ 9♦ 7♣ 2♠ | 9♠ 9♥ 7♦ 7♣ 2♠ | 5♠ 5♥ 5♦ 7♣ 2♠ | 5♠ 5♥ 5♦ 2♣ 2♠ | 8♠ 8♥ 8♦ 8♣ 2♠ |
        A♠ K♠ 9♠ 7♠ 2♠ | A♠ K♠ 9♠ 7♠ 2♥ | 6♠ 7♥ 7♦ 8♣ 9♠ | 2♠ 7♦ 8♥ 7♣ 2♥ | 6♠ 7♠ 8♠ 9♠ J♠ | 2♠ 4♥ 6♦ 8♣ T♠ |
        3♠ 3♥ 3♦ 7♣ 7♠ | 4♠ 4♥ 4♦ 4♣ 8♠"""
    hands += [hand.split() for hand in others.split("|")]
    for place in range(5):  # one card alone keeps it from being a flush, or a straight
        flush = [rank + "♥" for rank in "259JK"]
        hands.append([*flush[:place], flush[place][0] + "♦", *flush[place + 1 :]])
        for run, other in (STRAIGHTS[0], "K"), (STRAIGHTS[-1], "8"):
            hands.append([rank + suit for rank, suit in zip(run[:place] + other + run[place + 1 :], "♠♥♦♣♠")])
    return [{"cards": hand} for hand in hands]


EXERCISE = Exercise(
    name="poker hand",
    function="hand_type",
    contract='`f(cards) -> type`: five cards such as "T♥" in, one of eight labels or "straight flush" out.',
    steps=STEPS,
    arguments={"cards": Things()},
    result=Text(),
    draw=draw,
    boundary=boundary,
)
