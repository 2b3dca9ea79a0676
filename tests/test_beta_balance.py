"""The balance of reward and KL that `notebooks/reasoning_format.ipynb` tells of, worked out without a network.

The policy is one number z, the logit of the probability p of the format. Dividing the advantages by the group's
standard deviation makes the mean pull at z the mean standard deviation, not p(1 - p).
"""

from math import comb, exp, log, sqrt

import pytest

BEFORE, BETA, G = 0.191, 0.6, 8  # the untrained share of the format, and the notebook's settings


def logit(p: float) -> float:
    return log(p / (1 - p))


def mean_std(p: float) -> float:
    """The mean standard deviation of G rewards that are 1 with probability p, else 0."""
    return sum(comb(G, k) * p**k * (1 - p) ** (G - k) * sqrt(k / G * (1 - k / G)) for k in range(G + 1))


def pull(z: float, divided: bool) -> float:
    """The mean pull of rewards at z, less that of the KL."""
    p = 1 / (1 + exp(-z))
    return (mean_std(p) if divided else p * (1 - p)) - BETA * p * (1 - p) * (z - logit(BEFORE))


@pytest.mark.parametrize(("divided", "balance"), [(False, 0.5556), (True, 0.9290)])
def test_the_division_moves_the_balance(divided, balance):
    """Catches a derivation that holds for advantages that are not divided alone, as the notebook's first one did."""
    below, above = logit(balance - 0.001), logit(balance + 0.001)
    assert pull(below, divided) > 0 > pull(above, divided)


def test_the_division_more_than_doubles_the_pull_at_a_share_of_nine_tenths():
    assert mean_std(0.9) == pytest.approx(0.21, abs=0.005)
    assert mean_std(0.9) / (0.9 * 0.1) == pytest.approx(2.3, abs=0.05)
