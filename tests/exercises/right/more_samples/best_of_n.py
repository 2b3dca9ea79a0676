"""Right estimates of what the best of n is worth."""

from shared.selection import best_of_n

ORACLE = best_of_n


EQUIVALENT = {
    "estimate: return sum((won * reward for won, reward in zip(ordered, wins))) / choices": "a product of two numbers is "
    "the same in any order"
}
