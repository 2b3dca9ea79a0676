"""Right steps of exponentiated gradient ascent."""

import numpy as np

from shared import irl


def ORACLE(weights, features, target, visits, rate):
    return irl.exponentiated_gradient(rate)(weights, target - visits @ features, 0)


def in_two_lines(weights, features, target, visits, rate):
    gradient = target - visits @ features
    return weights * np.exp(rate * gradient)


def feature_by_feature(weights, features, target, visits, rate):
    new = weights.copy()
    for f in range(len(weights)):
        expected = sum(visits[s] * features[s, f] for s in range(len(visits)))
        new[f] *= np.exp(rate * (target[f] - expected))
    return new


def in_logarithms(weights, features, target, visits, rate):
    return np.exp(np.log(weights) + rate * (target - features.T @ visits))


RIGHT = [in_two_lines, feature_by_feature, in_logarithms]
