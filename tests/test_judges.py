"""Judges that err, with the errors that they are said to have."""

import itertools
import math

import pytest
import torch

from benchmarks.sweeps import judges_real
from benchmarks.sweeps.measuring import rounded
from shared.judges import by_lot, by_phrase
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
    """Catches a formula that holds for one pair of rates."""
    rule = torch.tensor([1.0, 0.0, 0.0, 1.0])
    accepted = torch.where(rule == 1, 1 - e1, e0)
    mean = torch.zeros(len(rule))  # of the advantages
    for outcome in map(torch.tensor, itertools.product((0.0, 1.0), repeat=len(rule))):
        chance = torch.where(outcome == 1, accepted, 1 - accepted).prod().item()
        mean += chance * (outcome - outcome.mean())
    torch.testing.assert_close(mean, (1 - e0 - e1) * (rule - rule.mean()))


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


def test_errors_that_depend_on_the_kind_are_told_by_kind():
    """Catches a mean over a whole batch in the place of a group's, and a right number that is counted as a wrong one."""
    said = [" 3", " 4", " well, 3", " 5", " 3", " 3", " 4", " 4"] + [" 4"] * 8
    kinds = judges_real.kinds_of([""] * 16, said, answer=["3"] * 16)
    paid = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0] + [1.0] * 8  # 5 of 8 in the first group, all of the second
    means = judges_real.means_by(kinds, judges_real.advantages(paid))
    assert means == {
        "no number": -0.625,
        "right number": rounded(2 / 3 - 0.625, 4),
        "wrong number": rounded(0.5 / 12, 4),
    }
    rates = judges_real.rates_of(judges_real.dots.reward([""] * 16, said, answer=["3"] * 16), paid)
    assert rates == {"e0": rounded(11 / 13), "e1": rounded(1 / 3), "J": rounded(2 / 3 - 11 / 13)}
