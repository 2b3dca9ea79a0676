"""Right ways to name a poker hand."""

from collections import Counter

from shared.tasks import poker

ORACLE = poker.hand_type


def in_bits(cards):
    """Ranks as bits, straights as runs of five of them."""
    ranks = ["A23456789TJQK".index(card[0]) for card in cards]
    bits = sum({1 << r for r in ranks}) | (1 << 13 if 0 in ranks else 0)
    straight = len(set(ranks)) == 5 and any(bits >> i & 31 == 31 for i in range(10))
    flush = len({card[-1] for card in cards}) == 1
    pairs = sum(ranks.count(r) for r in ranks)
    if straight or flush:
        return " ".join(["straight"] * straight + ["flush"] * flush)
    return {
        5: "high card",
        7: "one pair",
        9: "two pair",
        11: "three of a kind",
        13: "full house",
        17: "four of a kind",
    }[pairs]


def matched(cards):
    ranks, suits = zip(*cards)
    match sorted(map(ranks.count, ranks)):
        case [1, 4, 4, 4, 4]:
            return "four of a kind"
        case [2, 2, 3, 3, 3]:
            return "full house"
        case [1, 1, 3, 3, 3]:
            return "three of a kind"
        case [1, 2, 2, 2, 2]:
            return "two pair"
        case [1, 1, 1, 2, 2]:
            return "one pair"
    order = "A23456789TJQKA"
    straight = any(set(ranks) == set(order[i : i + 5]) for i in range(10))
    flush = len(set(suits)) == 1
    if straight and flush:
        return "straight flush"
    return "straight" if straight else "flush" if flush else "high card"


def by_numbers(cards):
    values = sorted("23456789TJQKA".index(card[0]) + 2 for card in cards)
    if values == [2, 3, 4, 5, 14]:
        values = [1, 2, 3, 4, 5]
    straight = all(b - a == 1 for a, b in zip(values, values[1:]))
    flush = all(card[1] == cards[0][1] for card in cards)
    counts = sorted(Counter(values).values())
    if straight and flush:
        return "straight flush"
    if counts[-1] == 4:
        return "four of a kind"
    if counts == [2, 3]:
        return "full house"
    if flush:
        return "flush"
    if straight:
        return "straight"
    if counts[-1] == 3:
        return "three of a kind"
    if counts.count(2) == 2:
        return "two pair"
    return "one pair" if 2 in counts else "high card"


RIGHT = [in_bits, matched, by_numbers]
