"""Name a five-card poker hand: the task of `notebooks/poker.ipynb`.

    Hand: A♠ K♥ 7♦ 7♣ 2♠
    Type: one pair

There are eight labels. The forty straight flushes would be a ninth: the oracle names them, and no data set holds one.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from shared.tasks.documents import ANSWER_KEY
from shared.tasks.matching import exact_match
from shared.tasks.split import Split, check_request, distinct, endless, split_of

RANKS = "23456789TJQKA"
SUITS = "♠♥♦♣"
LABELS = ("high card", "one pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind")
LABEL_WEIGHTS = dict(zip(LABELS, (1.0, 1.0, 1.5, 2.0, 2.0, 2.0, 2.5, 3.0)))
STRAIGHT_FLUSH = "straight flush"
MAX_NEW_TOKENS = 6
LONGEST_ANSWERS = tuple(f" {label}" for label in LABELS)
CHAT_SYSTEM_PROMPT = f"Name the type of a poker hand. Answer with one of these and nothing else: {', '.join(LABELS)}."
# Any hand may be a row: `rows_for` shows none whose own cards these are, in whatever order.
CHAT_EXAMPLES = (
    ("Hand: 9♦ 4♠ 9♣ K♥ 9♠\nType:", " three of a kind"),
    ("Hand: 8♥ 5♣ 7♠ 6♥ 4♦\nType:", " straight"),
    ("Hand: J♠ 3♦ J♥ 8♣ 3♠\nType:", " two pair"),
    ("Hand: Q♣ 2♥ 7♦ 5♠ T♦\nType:", " high card"),
)
REMARKS = (" well, it could be good.", " well, let me see.", " not sure.", " a nice hand.")

STRAIGHTS = tuple(("A" + RANKS)[i : i + 5] for i in range(10))  # from A-2-3-4-5 to T-J-Q-K-A
STRAIGHT_SETS = frozenset(map(frozenset, STRAIGHTS))
UNCONNECTED = tuple(c for c in itertools.combinations(RANKS, 5) if frozenset(c) not in STRAIGHT_SETS)
MIXED_SUITS = tuple(s for s in itertools.product(SUITS, repeat=5) if len(set(s)) > 1)

# How often each rank of a hand occurs, most frequent first, decides all types but straights and flushes.
MULTIPLICITIES = {
    "one pair": (2, 1, 1, 1),
    "two pair": (2, 2, 1),
    "three of a kind": (3, 1, 1),
    "full house": (3, 2),
    "four of a kind": (4, 1),
}


def hand_type(cards: Sequence[str]) -> str:
    """The oracle: the type of five cards such as "T♥", one of `LABELS` or `STRAIGHT_FLUSH`.

    Raises:
        ValueError: not five different cards.
    """
    if len(set(cards)) != 5 or any(len(c) != 2 or c[0] not in RANKS or c[1] not in SUITS for c in cards):
        raise ValueError(f"{' '.join(cards)} is not a hand of five different cards, written like A♠ T♥ 7♦ 7♣ 2♠.")
    counts = tuple(sorted(Counter(card[0] for card in cards).values(), reverse=True))
    for label, multiplicities in MULTIPLICITIES.items():
        if counts == multiplicities:
            return label
    flush = len({card[1] for card in cards}) == 1
    straight = frozenset(card[0] for card in cards) in STRAIGHT_SETS
    if straight and flush:
        return STRAIGHT_FLUSH
    if straight:
        return "straight"
    return "flush" if flush else "high card"


def deal(label: str, rng: random.Random) -> list[str]:
    """A uniformly drawn hand of a type, built so rather than dealt until one turns up.

    Raises:
        ValueError: the label is not one of `LABELS`.
    """
    if label not in LABELS:
        raise ValueError(f"The label {label!r} does not exist; choose one of {', '.join(LABELS)}.")
    if label in MULTIPLICITIES:
        ranks = rng.sample(RANKS, len(MULTIPLICITIES[label]))
        cards = [rank + suit for rank, times in zip(ranks, MULTIPLICITIES[label]) for suit in rng.sample(SUITS, times)]
    else:
        ranks = rng.choice(STRAIGHTS) if label == "straight" else rng.choice(UNCONNECTED)
        suits = rng.choice(SUITS) * 5 if label == "flush" else rng.choice(MIXED_SUITS)
        cards = [rank + suit for rank, suit in zip(ranks, suits)]
    rng.shuffle(cards)
    return cards


def canonical(cards: Sequence[str]) -> str:
    """The hand whatever the order of its cards."""
    return " ".join(sorted(cards))


def prompt_of(cards: Sequence[str]) -> str:
    return f"Hand: {' '.join(cards)}\nType:"


def draw_hand(rng: random.Random, split: Split, balanced: bool = True) -> list[str]:
    """A hand of the split: the type drawn first when `balanced`, else five cards from the deck."""
    deck = [rank + suit for rank in RANKS for suit in SUITS]
    while True:
        cards = deal(rng.choice(LABELS), rng) if balanced else rng.sample(deck, 5)
        if split_of(canonical(cards)) == split and hand_type(cards) != STRAIGHT_FLUSH:
            return cards


def _hands_of(label: str, rng: random.Random, split: Split) -> Iterator[list[str]]:
    """Endless hands of a type that belong to the split."""
    while True:
        cards = deal(label, rng)
        if split_of(canonical(cards)) == split:
            yield cards


def dataset(split: Split, n: int, seed: int = 0, *, balanced: bool = True) -> list[dict]:
    """n different hands of a split, each with `prompt`, `cards`, `answer` and `weight` (that of its label).

    Args:
        balanced: as many hands of each label, up to one; False deals from the deck, where half are "high card".

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist (there are 624 hands with four of a kind).
    """
    check_request(split, n)
    rng = random.Random(f"poker {seed}")
    if balanced:
        hands = []
        for i, label in enumerate(LABELS):
            share = n // len(LABELS) + (i < n % len(LABELS))
            if share:
                hands += distinct(_hands_of(label, rng, split), share, canonical)
        rng.shuffle(hands)
    else:
        hands = distinct(endless(lambda: draw_hand(rng, split, balanced=False)), n, canonical)
    return [
        {
            "prompt": prompt_of(cards),
            "cards": cards,
            "answer": hand_type(cards),
            "weight": LABEL_WEIGHTS[hand_type(cards)],
        }
        for cards in hands
    ]


def solved(row: dict) -> dict:
    """The row with its right completion, as it follows a plain prompt."""
    return row | {"completion": f" {row['answer']}"}


def reward(prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **columns) -> list[float]:
    """1.0 where the completion's first line is the label of the hand, else 0.0."""
    return exact_match(prompts, completions, answer)


def weighted_reward(
    prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], weight: Sequence[float], **columns
) -> list[float]:
    """`reward` times the weight of the right label: rare types pay up to three times as much."""
    return [r * w for r, w in zip(reward(prompts, completions, answer), weight)]


def documents(rng: random.Random) -> Iterator[str]:
    """Endless pretraining documents: answer keys that are right, and a careless player in the prompt's own format.

    The careless player says "high card" far too often, whatever the hand.
    """
    while True:
        if rng.random() < 0.75:
            hands = [draw_hand(rng, "train") for _ in range(3)]
            yield ANSWER_KEY + "\n".join(f"{prompt_of(cards)} {hand_type(cards)}" for cards in hands)
        else:
            cards = draw_hand(rng, "train")
            yield prompt_of(cards) + _careless_completion(rng, hand_type(cards))


def _careless_completion(rng: random.Random, label: str) -> str:
    said = rng.choices((label, "high card", "one pair", rng.choice(LABELS), None), (0.26, 0.40, 0.08, 0.10, 0.16))[0]
    return rng.choice(REMARKS) if said is None else f" {said}"
