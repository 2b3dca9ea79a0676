"""Figures that the glossary and the cheat sheet give, held to the functions that they speak of."""

from pathlib import Path

import torch

from shared.losses import ratio_weight

DOCS = Path(__file__).parents[1] / "docs"


def said(page: str) -> str:
    """The words of a page of docs/, on one line."""
    return " ".join((DOCS / f"{page}.qmd").read_text(encoding="utf-8").split())


def test_weights_of_the_ratio_are_what_the_pages_say():
    """Catches SAPO's gate taken for its weight, and CISPO's bound taken for a distance from 1."""
    ratio = torch.linspace(0.5, 4.0, 35001, dtype=torch.double)
    weight = ratio_weight(ratio.log(), torch.ones_like(ratio), "sapo")
    place = weight.argmax()
    assert f"to {weight[place]:.2f} at a ratio of {ratio[place]:.2f}" in said("glossary")
    bounded = ratio_weight(torch.tensor([7.0]).log(), torch.ones(1), "cispo", epsilon_high=5.0)
    assert bounded.item() == 5.0 and r"\min(\rho, \epsilon_\text{high})\,A" in said("cheat_sheet")


def test_a_group_of_eight_follows_the_logarithm_no_further_than_the_glossary_says():
    """Catches the 50 of infinitely many samples; `group_advantages` itself is held to this series by enumeration."""
    p, G = 0.02, 8
    slope_of_series = sum((1 - p) ** (k - 1) for k in range(1, G))
    assert f"at $p = {p}$ and $G = {G}$ by {slope_of_series:.1f}, not by" in said("glossary")


def test_a_baseline_that_raises_the_noise_raises_it_as_the_glossary_says():
    """Catches "a baseline lowers the noise": the mean reward does not where right answers are the rule."""
    p = torch.tensor([0.9, 0.1], dtype=torch.double)
    reward, score = torch.tensor([1.0, 0.0]), torch.tensor([0.1, -0.9])  # d log probability / d logit

    def variance(baseline: float) -> float:
        one_sample = (reward - baseline) * score
        return (p * (one_sample - (p * one_sample).sum()) ** 2).sum().item()

    assert f"by {variance(0.9) / variance(0.0):.0f}." in said("glossary")
