import pytest
import torch

from shared.advantages import group_advantages


def test_a_hand_worked_group():
    """Catches the sample standard deviation: (2, 1, -1) has population std sqrt(14/9), not sqrt(7/3)."""
    advantages, _ = group_advantages(torch.tensor([2.0, 1.0, -1.0]), 3, advantage_eps=0.0)
    torch.testing.assert_close(advantages, torch.tensor([4.0, 1.0, -5.0]) / 14**0.5)


def test_groups_are_consecutive_rows_and_do_not_see_each_other():
    """Catches statistics over the batch, and groups taken with stride N instead of in blocks of G."""
    advantages, _ = group_advantages(torch.tensor([0.0, 1.0, 100.0, 101.0]), 2, advantage_eps=0.0)
    torch.testing.assert_close(advantages, torch.tensor([-1.0, 1.0, -1.0, 1.0]))


def test_equal_rewards_give_exactly_zero():
    """Catches rounding of the mean blown up by a tiny denominator: 0.1 three times has a mean that is not 0.1."""
    advantages, metrics = group_advantages(torch.tensor([0.1] * 7 + [0.0, 1.0] + [0.3] * 5), 7, advantage_eps=0.0)
    assert (advantages[:7] == 0).all() and (advantages[7:] != 0).all()
    assert metrics["frac_reward_zero_std"] == 0.5


@pytest.mark.parametrize("scale, divisor", [("none", 1.0), ("batch", 1.1875**0.5)])
def test_other_scales(scale, divisor):
    """Rewards 0, 1, 1, 3 have the population variance 1.1875; every group is centred on its own mean all the same."""
    advantages, _ = group_advantages(torch.tensor([0.0, 1.0, 1.0, 3.0]), 2, scale_rewards=scale, advantage_eps=0.0)
    torch.testing.assert_close(advantages, torch.tensor([-0.5, 0.5, -1.0, 1.0]) / divisor)


def test_advantages_carry_no_gradient():
    rewards = torch.tensor([0.0, 1.0], requires_grad=True)
    assert not group_advantages(rewards, 2)[0].requires_grad


@pytest.mark.parametrize(
    "rewards, G, words",
    [
        ([1.0, 2.0], 1, "at least 2"),
        ([1.0, 2.0, 3.0], 2, "multiple"),
        ([], 2, "multiple"),
        ([1.0, float("nan")], 2, "completion 1"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(rewards, G, words):
    with pytest.raises(ValueError, match=words):
        group_advantages(torch.tensor(rewards), G)


def test_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="scale_rewards"):
        group_advantages(torch.tensor([0.0, 1.0]), 2, scale_rewards="std")
