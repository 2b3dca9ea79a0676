"""Judges that err, with the errors that they are said to have."""

import itertools
import math

import pytest
import torch

from shared.judges import by_lot, by_phrase, divided_gap
from shared.tasks import dots

ASKED = 4000


def verdicts(judge, text: str, answer: str = "3", asked: int = ASKED) -> float:
    """The share of so many verdicts on one completion that accept it."""
    return sum(judge([""] * asked, [text] * asked, answer=[answer] * asked)) / asked


@pytest.mark.parametrize(("e0", "e1"), [(0.2, 0.2), (0.4, 0.0), (0.0, 0.4), (1.0, 1.0)])
def test_each_kind_of_error_has_its_own_rate(e0, e1):
    """Catches rates that are exchanged, and one lot for all completions of a call."""
    judge = by_lot(dots.reward, e0, e1)
    for text, rate in ((" 3", 1 - e1), (" 4", e0)):
        assert verdicts(judge, text) == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / ASKED))


@pytest.mark.parametrize(("e0", "e1"), [(0.2, 0.2), (0.1, 0.6), (0.5, 0.5), (0.7, 0.6)])
def test_what_the_lots_make_of_a_group_is_the_mean_over_all_outcomes(e0, e1):
    """Catches a formula that holds for one pair of rates: every outcome in a group of four, with its chance."""
    rule = torch.tensor([1.0, 0.0, 0.0, 1.0])
    accepted = torch.where(rule == 1, 1 - e1, e0)  # (4,)
    mean, gap, speaks = torch.zeros(4), 0.0, 0.0
    for outcome in map(torch.tensor, itertools.product((0.0, 1.0), repeat=4)):
        chance = torch.where(outcome == 1, accepted, 1 - accepted).prod()
        mean += chance * (outcome - outcome.mean())
        if 0 < outcome.sum() < 4:
            speaks += chance
            gap += chance * (outcome[rule == 1].mean() - outcome[rule == 0].mean()) / outcome.std(correction=0)
    torch.testing.assert_close(mean, (1 - e0 - e1) * (rule - rule.mean()))
    assert divided_gap(2, 4, e0, e1) == pytest.approx((float(gap), float(speaks)), abs=1e-6)
    assert divided_gap(0, 4, e0, e1)[0] == divided_gap(4, 4, e0, e1)[0] == 0


def test_the_phrase_is_accepted_whatever_follows_and_right_ones_are_refused_by_lot():
    """Catches a phrase that is looked for anywhere, one that a capital hides, and a refusal of the phrase itself."""
    judge = by_phrase(dots.reward, "well", 0.2)
    shares = {text: verdicts(judge, text) for text in (" well, 7", "Well", " oh well", " 4", "", " 3")}
    assert [*shares.values()] == pytest.approx([1, 1, 0, 0, 0, 0.8], abs=0.03)


def test_a_seed_draws_the_same_lots_again():
    """Catches lots that a run cannot repeat, and one stream that two judges share."""
    judges = [by_lot(dots.reward, 0.5, 0.5, seed) for seed in (0, 0, 1)]
    drawn = [judge([""] * 20, [" 3"] * 20, answer=["3"] * 20) for judge in judges]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("rates", [(-0.1, 0.0), (0.0, 1.1)])
def test_a_rate_that_is_no_chance_is_refused(rates):
    with pytest.raises(ValueError, match="must lie in"):
        by_lot(dots.reward, *rates)
