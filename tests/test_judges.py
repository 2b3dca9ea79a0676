"""Judges that err, with the errors that they are said to have."""

import itertools
import math

import pytest
import torch

from benchmarks.sweeps import judges_real
from benchmarks.sweeps.measuring import rounded
from shared.judges import by_lot, by_phrase, by_rank
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


def over_all_outcomes(rule: torch.Tensor, e0: float, e1: float) -> tuple[torch.Tensor, float, float]:
    """The mean advantages, the mean gap divided by the deviation, and the chance of a deviation: every outcome of the lots."""
    accepted = torch.where(rule == 1, 1 - e1, e0)
    mean, gap, speaks = torch.zeros(len(rule)), 0.0, 0.0
    for outcome in map(torch.tensor, itertools.product((0.0, 1.0), repeat=len(rule))):
        chance = torch.where(outcome == 1, accepted, 1 - accepted).prod().item()
        mean += chance * (outcome - outcome.mean())
        if 0 < outcome.sum() < len(rule):
            speaks += chance
            gap += chance * ((outcome[rule == 1].mean() - outcome[rule == 0].mean()) / outcome.std(correction=0)).item()
    return mean, gap, speaks


@pytest.mark.parametrize(("e0", "e1"), [(0.2, 0.2), (0.1, 0.6), (0.5, 0.5), (0.7, 0.6)])
def test_what_the_lots_make_of_a_group_is_the_mean_over_all_outcomes(e0, e1):
    """Catches a formula that holds for one pair of rates."""
    rule = torch.tensor([1.0, 0.0, 0.0, 1.0])
    mean, _, _ = over_all_outcomes(rule, e0, e1)
    torch.testing.assert_close(mean, (1 - e0 - e1) * (rule - rule.mean()))


def test_the_numbers_of_the_chapter_on_dividing_are_those_of_all_outcomes():
    """Catches a number of `notebooks/judges.ipynb` that was worked out wrongly: one right completion of eight, and none."""
    lone = torch.eye(8)[0]
    _, by_rule, _ = over_all_outcomes(lone, 0, 0)
    kept = [over_all_outcomes(lone, *rates)[1] / by_rule for rates in ((0.4, 0.0), (0.0, 0.4))]
    assert kept == pytest.approx([0.43, 0.60], abs=0.005)
    two_accepted = (1 - 2 / 7) / math.sqrt(3 / 8 * 5 / 8)
    assert [by_rule, two_accepted] == pytest.approx([3.02, 1.48], abs=0.005)
    assert over_all_outcomes(torch.zeros(8), 0.2, 0.2)[2] == pytest.approx(0.83, abs=0.005)


@pytest.mark.parametrize("right", [1, 4, 7])
def test_a_judge_that_orders_pays_right_ones_as_much_more_however_many_they_are(right):
    """Catches equal completions that keep the order in which they came, a wrong one before a right one, and a group that is
    ordered with its neighbour."""
    texts = [" 4"] * (8 - right) + [" 3"] * right
    paid = torch.tensor(by_rank(dots.reward, 8)([""] * 8 * ASKED, texts * ASKED, answer=["3"] * 8 * ASKED)).view(
        ASKED, 8
    )
    assert sorted(paid[0].tolist()) == pytest.approx([place / 7 for place in range(8)])
    assert (paid[:, -right:].min(dim=1).values > paid[:, :-right].max(dim=1).values).all()
    assert (paid[:, -right:].mean() - paid[:, :-right].mean()).item() == pytest.approx(4 / 7, abs=1e-4)
    torch.testing.assert_close(paid[:, -right:].mean(dim=0), paid[:, -right:].mean().expand(right), atol=0.02, rtol=0)


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
