"""Advantages over tokens against hand-worked and enumerated cases, and their whitening."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.advantages import gae, whiten


def test_a_trajectory_worked_by_hand():
    """Values 0.5, 0.6, 0.9 and a reward of 1 at the end; lam 0.5: deltas 0.1, 0.3, 0.1."""
    rewards, values, mask = (
        torch.tensor([[0, 0, 1.0, 7]]),
        torch.tensor([[0.5, 0.6, 0.9, 9]]),
        torch.tensor([[1, 1, 1, 0]]),
    )
    advantages, returns = gae(rewards, values, mask, lam=0.5)
    assert advantages.tolist() == [pytest.approx([0.1 + 0.5 * 0.35, 0.3 + 0.5 * 0.1, 0.1, 0.0])]
    assert returns.tolist() == [pytest.approx([0.775, 0.95, 1.0, 0.0])]


@settings(deadline=None)
@given(st.integers(0, 1000), st.floats(0, 1))
def test_true_values_make_advantages_that_average_to_zero(seed, lam):
    """Finite-horizon enumeration: three binary choices, every path with its probability, exact values by recursion."""
    generator = torch.Generator().manual_seed(seed)
    p = 0.1 + 0.8 * torch.rand(7, generator=generator)  # P(choose 1) in each of the 7 inner nodes of the tree
    reward_of_leaf = torch.rand(8, generator=generator)

    def value(node, depth):
        if depth == 3:
            return reward_of_leaf[node - 7]
        return (1 - p[node]) * value(2 * node + 1, depth + 1) + p[node] * value(2 * node + 2, depth + 1)

    expected = torch.zeros(3)
    for choices in itertools.product((0, 1), repeat=3):
        node, probability, values = 0, 1.0, []
        for depth, choice in enumerate(choices):
            values.append(value(node, depth))
            probability = probability * (p[node] if choice else 1 - p[node])
            node = 2 * node + 1 + choice
        rewards = torch.tensor([[0, 0, float(reward_of_leaf[node - 7])]])
        expected += probability * gae(rewards, torch.stack(values)[None], torch.ones(1, 3), lam)[0][0]
    assert torch.allclose(expected, torch.zeros(3), atol=1e-5)


def test_padding_changes_nothing():
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    rewards, values = torch.rand(2, 3), torch.rand(2, 3)
    poisoned = [t.masked_fill(mask == 0, 1e6) for t in (rewards, values)]
    for one, other in zip(gae(rewards, values, mask), gae(*poisoned, mask)):
        assert torch.equal(one, other)
    assert torch.equal(whiten(poisoned[0], mask)[0, :2], whiten(rewards, mask)[0, :2])


def test_whitening_is_over_real_tokens():
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    white = whiten(torch.rand(2, 3), mask)
    assert white[mask.bool()].mean().abs() < 1e-6 and white[mask.bool()].std(correction=0) == pytest.approx(1, abs=1e-5)
    assert white[0, 2] == 0


@pytest.mark.usefixtures("wrong_shapes")
def test_shapes_and_lam_are_checked():
    with pytest.raises(ValueError, match="none for the state after the last"):
        gae(torch.zeros(2, 3), torch.zeros(2, 4), torch.ones(2, 3))
    with pytest.raises(ValueError, match="lam is 1.5"):
        gae(torch.zeros(2, 3), torch.zeros(2, 3), torch.ones(2, 3), lam=1.5)
