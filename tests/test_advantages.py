from itertools import product

import pytest
import torch

from shared.advantages import (
    advantages_of_turns,
    gae,
    group_advantages,
    plain_group_advantages,
    turn_advantages,
    whiten,
)


def test_a_hand_worked_group():
    """Catches the sample standard deviation: (2, 1, -1) has population std sqrt(14/9), not sqrt(7/3)."""
    rewards = torch.tensor([2.0, 1.0, -1.0])
    for advantages in (plain_group_advantages(rewards, 3, 0.0), group_advantages(rewards, 3, advantage_eps=0.0)[0]):
        torch.testing.assert_close(advantages, torch.tensor([4.0, 1.0, -5.0]) / 14**0.5)
    advantages = plain_group_advantages(torch.tensor([1.0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1]), 4)  # the docstring's
    assert advantages.tolist() == pytest.approx([1, -1, -1, 1, 1.73, -0.58, -0.58, -0.58, 0, 0, 0, 0], abs=5e-3)


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


@pytest.mark.parametrize("scale", ["group", "batch"])
def test_eps_is_added_to_the_standard_deviation(scale):
    """Catches an eps that is taken off: with a small spread the advantages would explode. TRL's is 1e-4 as well."""
    rewards = torch.tensor([0.0, 1.0])
    by_default, _ = group_advantages(rewards, 2, scale_rewards=scale)
    torch.testing.assert_close(by_default, torch.tensor([-1.0, 1.0]) * 0.5 / 0.5001, rtol=1e-6, atol=0)
    wide, _ = group_advantages(rewards, 2, scale_rewards=scale, advantage_eps=0.5)
    torch.testing.assert_close(wide, torch.tensor([-0.5, 0.5]))


@pytest.mark.parametrize("G", [2, 3, 5])
def test_the_mean_as_a_scale_follows_the_logarithm_of_the_mean_reward(G):
    """Every group of G draws from three answers, two of them right. The expected gradient in the logits is that of
    -sum_{k < G} (1 - p)^k / k. Catches a division by the standard deviation, by the mean of the batch or by the number
    of right ones, and groups without a right one that still pull."""
    logits = torch.tensor([0.3, -1.0, 0.6], dtype=torch.double, requires_grad=True)
    right = torch.tensor([1.0, 0.0, 1.0], dtype=torch.double)
    logps = logits.log_softmax(dim=0)
    expected = torch.zeros(())
    for drawn in map(list, product(range(3), repeat=G)):
        advantages, _ = group_advantages(right[drawn], G, scale_rewards="mean", advantage_eps=0.0)
        expected = expected + logps[drawn].sum().exp().detach() * (advantages * logps[drawn]).mean()
    p = (logps.exp() * right).sum()
    series = -sum((1 - p) ** k / k for k in range(1, G))
    gradients = [torch.autograd.grad(value, logits, retain_graph=True)[0] for value in (expected, series)]
    torch.testing.assert_close(*gradients)


def test_rewards_below_0_have_no_mean_to_be_divided_by():
    """Catches advantages that turn round where the mean is negative; a group of zeros is 0 and not nan."""
    with pytest.raises(ValueError, match="A reward is -1.0, and scale_rewards="):
        group_advantages(torch.tensor([0.0, -1.0]), 2, scale_rewards="mean")
    advantages, _ = group_advantages(torch.tensor([0.0, 0, 1, 3]), 2, scale_rewards="mean", advantage_eps=0.0)
    assert advantages.tolist() == [0, 0, -0.5, 0.5]


def test_metrics_are_of_the_rewards_and_not_of_the_advantages():
    """Catches the spread of the whole batch in place of the mean of the groups' spreads: here 0.5 and 2."""
    _, metrics = group_advantages(torch.tensor([0.0, 1.0, 3.0, 7.0]), 2)
    assert metrics == pytest.approx({"reward": 2.75, "reward_std": 1.25, "frac_reward_zero_std": 0.0})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rewards_of_few_digits_are_computed_with_in_float32(dtype):
    """Catches a mean and a spread in half precision, where a third of a reward has three digits."""
    rewards = torch.tensor([1, 2, 4, 1, 3, 3], dtype=dtype)
    advantages, _ = group_advantages(rewards, 3)
    torch.testing.assert_close(advantages, group_advantages(rewards.float(), 3)[0], rtol=0, atol=0)


def test_advantages_carry_no_gradient():
    """Catches a gradient that flows through the rewards, or into the critic through its own targets."""
    rewards = torch.tensor([0.0, 1.0], requires_grad=True)
    assert not group_advantages(rewards, 2)[0].requires_grad
    values = torch.rand(2, 3, requires_grad=True)
    advantages, returns = gae(torch.rand(2, 3, requires_grad=True), values, torch.ones(2, 3))
    assert not advantages.requires_grad and not returns.requires_grad


def test_a_completion_may_be_one_token_long():
    """Its advantage is its reward minus its value: the state after it is terminal."""
    advantages, returns = gae(torch.tensor([[1.0], [0.0]]), torch.tensor([[0.25], [0.5]]), torch.ones(2, 1))
    assert advantages.tolist() == [[0.75], [-0.5]] and returns.tolist() == [[1.0], [0.0]]


def test_whitening_divides_by_the_spread_and_eps():
    white = whiten(torch.tensor([[1.0, 3.0]]), torch.ones(1, 2), eps=1.0)
    torch.testing.assert_close(white, torch.tensor([[-0.5, 0.5]]))


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
    with pytest.raises(ValueError, match="scale_rewards"):
        group_advantages(torch.tensor([0.0, 1.0]), 2, scale_rewards="std")


def test_a_turn_is_compared_with_the_games_that_have_it():
    """Catches a baseline over games that were over before, and credit for what was earned before a turn.

    Four games: won at once, won at the third guess, lost at the third and at the second. The second turns earn 1, 0, 0:
    mean 1/3, standard deviation sqrt(2)/3, so sqrt(2) and twice -1/sqrt(2).
    """
    nan = torch.nan
    rewards = torch.tensor([[1.0, nan, nan], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, nan]])
    root = 2**0.5
    expected = torch.tensor([[1.0, 0.0, 0.0], [1.0, root, 1.0], [-1.0, -1 / root, -1.0], [-1.0, -1 / root, 0.0]])
    torch.testing.assert_close(turn_advantages(rewards, 4), expected, atol=1e-3, rtol=0)


def test_a_turn_is_not_paid_for_what_came_before_it():
    """Catches the sum over all turns as every turn's return: both second turns earn the same here."""
    advantages = turn_advantages(torch.tensor([[1.0, 0.5], [0.0, 0.5]]), 2)
    torch.testing.assert_close(advantages, torch.tensor([[1.0, 0.0], [-1.0, 0.0]]), atol=1e-3, rtol=0)


def test_each_token_has_the_advantage_of_its_turn():
    """Catches turns counted by tokens, and heard words that begin one: game 0 is won at once, game 1 at its second turn."""
    mask = torch.tensor([[1, 1, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0], [1, 1, 0, 1, 1, 0]])
    found = advantages_of_turns(mask, torch.tensor([1.0, 1.0, 0.0]), 3)
    first, second = [0.7071, 0.7071, -1.4142], [0.0, 1.0, -1.0]  # means 2/3 and 1/2, deviations sqrt(2)/3 and 1/2
    assert found[:, :2].T.tolist() == [pytest.approx(first, abs=1e-3)] * 2
    assert found[:, 3:5].T.tolist()[1] == pytest.approx([first[0], *second[1:]], abs=1e-3)
