"""Intervals: they have a width where everything was right, and count what belongs together once."""

import math

import pytest
import torch

from shared.statistics import bootstrap_interval, gain_interval, mean_interval, pass_at_k, wilson_interval

Z = 1.959964


@pytest.mark.parametrize(("right", "count"), [(0, 200), (200, 200), (1, 10), (37, 50), (5, 7)])
def test_wilsons_bounds_are_the_shares_that_a_test_would_just_not_reject(right, count):
    """The interval of Wald, which is a single point at 0 and at 1. Held against the definition."""
    low, high = wilson_interval(right, count)
    for share in {low, high} - {0.0, 1.0}:
        assert abs(right / count - share) == pytest.approx(Z * math.sqrt(share * (1 - share) / count), rel=1e-5)
    assert 0.0 <= low < high <= 1.0 and low <= right / count <= high
    assert (low == 0.0) == (right == 0) and (high == 1.0) == (right == count)


def test_a_share_of_all_or_none_has_an_interval():
    """ "1.000 to 1.000": resampling values that are all alike says that there is no doubt."""
    assert mean_interval(torch.ones(200)) == pytest.approx((1 - Z**2 / (200 + Z**2), 1.0), abs=1e-6)
    assert mean_interval(torch.zeros(200)) == pytest.approx((0.0, Z**2 / (200 + Z**2)), abs=1e-6)


def test_other_numbers_are_resampled():
    """Wilson's formula on rewards that are no rights and wrongs."""
    values = torch.tensor([0.0, 0.5, 1.0] * 20)
    assert mean_interval(values) == bootstrap_interval(values)
    assert mean_interval(values, confidence=0.5) == bootstrap_interval(values, confidence=0.5)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_three_questions_about_one_fact_are_one_piece_of_evidence(share):
    """An interval that is too narrow by sqrt(3), since each fact is asked three times."""
    facts = (torch.arange(40) < 40 * share).float()
    thrice = facts.repeat_interleave(3)
    names = [number // 3 for number in range(120)]
    low, high = mean_interval(thrice, clusters=names)
    alone_low, alone_high = mean_interval(facts)
    assert high - low == pytest.approx(alone_high - alone_low, rel=0.1)
    assert high - low > 1.5 * (lambda pair: pair[1] - pair[0])(mean_interval(thrice))


def test_clusters_of_other_sizes_weigh_by_their_size():
    """A mean of means of clusters, which is the mean of something else."""
    values = torch.tensor([1.0] * 30 + [0.0] * 2)
    low, high = mean_interval(values, clusters=["large"] * 30 + ["small"] * 2)
    assert (low, high) == (0.0, 1.0)
    names = [number % 8 for number in range(32)]
    low, high = mean_interval(values, clusters=names)
    assert low < 30 / 32 < high


def test_what_no_interval_can_be_made_of():
    """A division by zero, or names that belong to other values."""
    with pytest.raises(ValueError, match="no values"):
        mean_interval(torch.zeros(0))
    with pytest.raises(ValueError, match="3 values and 2 names"):
        mean_interval(torch.ones(3), clusters=["a", "b"])


def test_a_gain_of_all_has_an_interval():
    """ "+1.000 to +1.000": no pair that differs from the others."""
    low, high = gain_interval(torch.zeros(100), torch.ones(100))
    edge = Z**2 / (100 + Z**2)
    assert high == pytest.approx(1.0) and low == pytest.approx(1 - math.sqrt(2) * edge, abs=1e-6)
    same = torch.tensor([0.0, 1.0] * 50)
    assert gain_interval(same, same) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_a_gain_of_questions_asked_thrice_is_no_surer_than_of_questions_asked_once():
    """Catches clusters that the comparison of two models ignores: its interval would be narrower by the root of 3."""
    before = torch.zeros(60)
    after = (torch.arange(60) % 3 > 0).float()
    names = list(range(60))
    once = gain_interval(before, after, clusters=names)
    thrice = gain_interval(before.repeat(3), after.repeat(3), clusters=names * 3)
    alone = gain_interval(before.repeat(3), after.repeat(3))
    assert thrice == pytest.approx(once, abs=0.02)
    assert alone[1] - alone[0] < 0.7 * (thrice[1] - thrice[0])


@pytest.mark.parametrize("link", [0.0, 0.8])
def test_the_interval_of_a_gain_holds_the_gain_as_often_as_it_says(link):
    """Pairs taken for independent samples: far too wide where the same prompts are right before and after."""
    generator = torch.Generator().manual_seed(0)
    held = 0
    widths = []
    for _ in range(400):
        before = (torch.rand(150, generator=generator) < 0.4).float()
        fresh = (torch.rand(150, generator=generator) < 0.6).float()
        after = torch.where(torch.rand(150, generator=generator) < link, before, fresh)
        truth = (1 - link) * (0.6 - 0.4)
        low, high = gain_interval(before, after)
        held += low <= truth <= high
        widths.append(high - low)
    assert 0.92 <= held / 400 <= 0.98
    assert sum(widths) / 400 < (0.24 if link == 0 else 0.14)


def test_a_gain_of_other_numbers_is_resampled():
    """Newcombe's formula on rewards that are no rights and wrongs."""
    before = torch.rand(30, generator=torch.Generator().manual_seed(1))
    after = before + torch.arange(30) / 30
    assert gain_interval(before, after) == bootstrap_interval(after - before)


def test_the_interval_is_the_same_in_every_run():
    """Frozen: the intervals that notebooks show hang on the seed and the number of draws."""
    values = torch.arange(50.0) ** 2
    assert bootstrap_interval(values) == pytest.approx(FROZEN)
    assert bootstrap_interval(values, confidence=0.95, draws=2000, seed=0) == pytest.approx(FROZEN)
    assert bootstrap_interval(values, seed=1, draws=50) != bootstrap_interval(values, seed=2, draws=50)
    assert bootstrap_interval(torch.full((5,), 0.25)) == (0.25, 0.25)


FROZEN = (600.3999633789062, 1024.71240234375)


def test_a_higher_confidence_is_wider_on_both_sides():
    """Half of the draws lie in the interval of 50 %, and a quarter above it."""
    values = torch.arange(100.0)
    narrow, wide = bootstrap_interval(values, confidence=0.5), bootstrap_interval(values, confidence=0.99)
    assert wide[0] < narrow[0] < values.mean() < narrow[1] < wide[1]
    error = values.std(correction=0).item() / 10
    assert (narrow[1] - narrow[0]) / 2 == pytest.approx(0.6745 * error, rel=0.1)


@pytest.mark.parametrize("count, k, share", [(8, 1, 0.1), (8, 4, 0.1), (6, 6, 0.3), (16, 8, 0.02), (5, 2, 1.0)])
def test_pass_at_k_is_right_on_average(count, k, share):
    """The obvious 1 - (1 - c/n)^k, which is too small on average. Enumerated over all counts of right ones."""
    chances = [math.comb(count, c) * share**c * (1 - share) ** (count - c) for c in range(count + 1)]
    mean = sum(chance * pass_at_k(count, c, k) for c, chance in enumerate(chances))
    assert mean == pytest.approx(1 - (1 - share) ** k)


def test_pass_at_k_at_its_ends():
    assert pass_at_k(8, 0, 8) == 0.0 and pass_at_k(8, 8, 1) == 1.0 and pass_at_k(8, 1, 8) == 1.0
    assert pass_at_k(8, 3, 1) == 3 / 8
    for k in (0, 9):
        with pytest.raises(ValueError, match="from 8 completions"):
            pass_at_k(8, 3, k)


def test_the_confidence_that_is_asked_for_is_that_of_both_ends():
    """Catches one end of a gain's interval that stays at 95 %."""
    before = torch.tensor([0.0, 1.0] * 20)
    after = torch.tensor([1.0, 1.0, 0.0, 1.0] * 10)
    ends = [gain_interval(before, after, confidence) for confidence in (0.5, 0.9, 0.99)]
    lows, highs = zip(*ends, strict=True)
    assert lows[0] > lows[1] > lows[2] and highs[0] < highs[1] < highs[2]
    (low, high), gain = ends[0], (after - before).mean().item()
    assert low == pytest.approx(2 * gain - mirrored(before, after, 0.5)[1], abs=1e-6) and low < gain < high


def mirrored(before: torch.Tensor, after: torch.Tensor, confidence: float) -> tuple[float, float]:
    """The interval of the gain the other way round, on the other side of the gain."""
    low, high = gain_interval(after, before, confidence)
    gain = (after - before).mean().item()
    return 2 * gain + low, 2 * gain + high


def test_the_ends_of_a_share_are_shares():
    """Catches an end below 0 by rounding, which a table shows as -0.000."""
    for count in range(1, 300):
        assert wilson_interval(0, count)[0] >= 0.0 and wilson_interval(count, count)[1] <= 1.0


def test_rewards_beside_rights_are_resampled():
    """Catches the formula for shares where one of the two measurements has other numbers."""
    rights = torch.tensor([0.0, 1.0] * 20)
    halves = torch.tensor([0.5, 0.25] * 20)
    assert gain_interval(rights, halves) == bootstrap_interval(halves - rights)
    assert gain_interval(halves, rights) == bootstrap_interval(rights - halves)
