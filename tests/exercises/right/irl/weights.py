"""Right exponentiated steps."""

import numpy as np

ORACLE = None


def by_logarithms(weights, features, target, visits, rate):
    return np.exp(np.log(weights) + rate * (target - features.T @ visits))


def looped(weights, features, target, visits, rate):
    new = weights.copy()
    for f in range(len(weights)):
        expected = sum(visits[s] * features[s, f] for s in range(len(visits)))
        new[f] *= np.exp(rate * (target[f] - expected))
    return new


RIGHT = [by_logarithms, looped]
