"""Right accuracies by length."""

from collections import defaultdict
from statistics import NormalDist

from shared.statistics import wilson_interval


def ORACLE(lengths, rewards, z):
    found = {}
    for length in set(lengths):
        values = [r.item() for other, r in zip(lengths, rewards) if other == length]
        confidence = 2 * NormalDist().cdf(z) - 1
        found[length] = (sum(values) / len(values), *wilson_interval(int(sum(values)), len(values), confidence))
    return found


def counted(lengths, rewards, z):
    """The roots of the quadratic in which Wilson's interval is defined, with counts of right and wrong."""
    right = defaultdict(float)
    total = defaultdict(int)
    for length, reward in zip(lengths, rewards.tolist()):
        right[length] += reward
        total[length] += 1
    found = {}
    for length, n in total.items():
        a = n + z * z
        b = 2 * right[length] + z * z
        c = right[length] ** 2 / n
        root = (b * b - 4 * a * c) ** 0.5
        found[length] = [right[length] / n, (b - root) / (2 * a), (b + root) / (2 * a)]
    return found


RIGHT = [counted]
