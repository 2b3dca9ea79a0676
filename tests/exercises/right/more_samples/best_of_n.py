"""Right estimates of what the best of n is worth."""

from itertools import combinations
from math import comb

from shared.selection import best_of_n

ORACLE = best_of_n


def sorted_pairs(scores, rewards, n):
    N = len(scores)
    paid = [reward for _, reward in sorted(zip(scores, rewards))]
    return sum(comb(i - 1, n - 1) * paid[i - 1] for i in range(n, N + 1)) / comb(N, n)


def counted(scores, rewards, n):
    """By going through all choices."""
    best = [max(chosen)[1] for chosen in combinations(zip(scores, rewards), n)]
    return sum(best) / len(best)


def from_the_top(scores, rewards, n):
    """The highest is chosen whenever it is drawn, with chance n / N; else the next one of those that are left decides."""
    left = sorted(zip(scores, rewards), reverse=True)
    total, chance = 0.0, 1.0
    for gone, (_, reward) in enumerate(left):
        drawn = min(1.0, n / (len(left) - gone))
        total += chance * drawn * reward
        chance *= 1 - drawn
    return total


RIGHT = [sorted_pairs, counted, from_the_top]
EQUIVALENT = {
    "estimate: return sum((won * reward for won, reward in zip(ordered, wins))) / choices": "a product of two numbers is "
    "the same in any order"
}
