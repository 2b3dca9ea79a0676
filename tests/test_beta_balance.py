"""The balance of reward and KL that `notebooks/reasoning_format.ipynb` tells of, worked out without a network.

The policy is one number z, the logit of the probability p of the format. Dividing the advantages by the group's
standard deviation makes the mean pull at z the mean standard deviation, not p(1 - p).
"""

import re
from math import comb, log, sqrt
from pathlib import Path

import pytest

from checker.reading.notebook import read

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "reasoning_format.ipynb"
BEFORE, BETA, G = 0.191, 0.6, 8  # the untrained share of the format, and the notebook's settings


def logit(p: float) -> float:
    return log(p / (1 - p))


def mean_std(p: float) -> float:
    """The mean standard deviation of G rewards that are 1 with probability p, else 0."""
    return sum(comb(G, k) * p**k * (1 - p) ** (G - k) * sqrt(k / G * (1 - k / G)) for k in range(G + 1))


def kl_pull(p: float) -> float:
    return BETA * p * (1 - p) * (logit(p) - logit(BEFORE))


def pull(p: float, divided: bool) -> float:
    """The mean pull of rewards at the logit of p, less that of the KL."""
    return (mean_std(p) if divided else p * (1 - p)) - kl_pull(p)


@pytest.mark.parametrize(("divided", "balance"), [(False, 0.5556), (True, 0.9290)])
def test_the_division_moves_the_balance(divided, balance):
    """Catches a derivation that holds for advantages that are not divided alone, as the notebook's first one did."""
    assert pull(balance - 0.001, divided) > 0 > pull(balance + 0.001, divided)


def test_the_table_of_the_page_is_worked_out():
    """Catches a row that is typed by hand or kept from another beta."""
    page = "\n".join(cell.source for cell in read(NOTEBOOK).cells)
    rows = re.findall(r"^\| (0\.\d\d) \| (0\.\d{3}) \| (0\.\d{3}) \| (0\.\d{3}) \|$", page, re.MULTILINE)
    assert len(rows) == 3
    for share, *printed in rows:
        p = float(share)
        assert printed == [f"{number:.3f}" for number in (p * (1 - p), mean_std(p), kl_pull(p))]
