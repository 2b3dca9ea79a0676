"""Right estimates of pass@k."""

from fractions import Fraction
from itertools import combinations
from math import comb, prod

from shared.statistics import pass_at_k

ORACLE = pass_at_k


def as_product(count, right, k):
    """As in the paper's appendix: a product, which no large binomial enters."""
    if count - right < k:
        return 1.0
    return 1.0 - prod(1 - k / i for i in range(count - right + 1, count + 1))


def drawn_one_by_one(count, right, k):
    """The first is wrong with (n - c) / n, the next one with (n - c - 1) / (n - 1), ..."""
    chance = Fraction(1)
    for already in range(k):
        chance *= Fraction(max(count - right - already, 0), count - already)
    return float(1 - chance)


def counted(count, right, k):
    """By going through the choices where they are few."""
    if comb(count, k) > 2000:
        return as_product(count, right, k)
    hits = [any(place < right for place in chosen) for chosen in combinations(range(count), k)]
    return sum(hits) / len(hits)


RIGHT = [as_product, drawn_one_by_one, counted]
EQUIVALENT = {"right and k exchanged": "C(n-c, k) / C(n, k) = C(n-k, c) / C(n, c): k of n miss c, as c of n miss k"}
