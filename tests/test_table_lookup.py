"""A policy that is a table of logits, one row for each prompt: gradients and optimum are known exactly."""

import pytest
import torch

from shared.advantages import group_advantages
from shared.losses import grpo_loss, reinforce_loss

REWARDS = torch.tensor([[0.0, 0.0, 1.0, 0.2], [1.0, 0.5, 0.0, 0.0]])  # (prompts, V)


def sampled_groups(table, G, seed):
    """G tokens for each prompt: choices, log-probabilities and rewards, (B,) each."""
    logps = table.log_softmax(-1)
    choice = torch.multinomial(logps.detach().exp(), G, replacement=True, generator=torch.Generator().manual_seed(seed))
    return logps.gather(1, choice).flatten(), REWARDS.to(table.dtype).gather(1, choice).flatten()


@pytest.mark.usefixtures("shapes_unchecked")
def test_the_gradient_is_the_exact_policy_gradient_on_average():
    """Oracle: the gradient of the expected reward, enumerated. The group's own mean in the baseline shrinks it by
    (G - 1) / G, which is the only bias when nothing is divided by the standard deviation."""
    G, draws = 4, 1500
    table = torch.randn(2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    expected_reward = (table.softmax(-1) * REWARDS).sum(-1).mean()
    exact = torch.autograd.grad(expected_reward, table)[0]

    gradients = []
    for seed in range(draws):
        logps, rewards = sampled_groups(table, G, seed)
        advantages, _ = group_advantages(rewards, G, scale_rewards="none")
        loss, _ = reinforce_loss(logps[:, None], advantages.double(), torch.ones(2 * G, 1))
        gradients.append(torch.autograd.grad(-loss, table)[0])
    gradients = torch.stack(gradients)
    error = (gradients.mean(0) - exact * (G - 1) / G).abs()
    assert (error < 5 * gradients.std(0) / draws**0.5 + 1e-12).all()  # five standard errors
    assert (exact.abs() > 20 * gradients.std(0) / draws**0.5).any(), "the test must be able to see the signal"


@pytest.mark.usefixtures("shapes_unchecked")
def test_the_policy_goes_to_the_best_token_of_each_prompt():
    table = torch.zeros(2, 4, requires_grad=True)
    optimizer = torch.optim.SGD([table], lr=1.0)
    for seed in range(200):
        logps, rewards = sampled_groups(table, 8, seed)
        advantages, _ = group_advantages(rewards, 8)
        loss, _ = grpo_loss(logps[:, None], logps[:, None].detach(), advantages, torch.ones(16, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert table.argmax(-1).tolist() == REWARDS.argmax(-1).tolist()
    assert (table.softmax(-1).max(-1).values > 0.95).all()
