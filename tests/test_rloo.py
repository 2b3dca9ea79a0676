"""Oracles: the gradient of the expected reward, enumerated; the sequence ratio of TRL's RLOOTrainer."""

from dataclasses import replace

import pytest
import torch

from shared.advantages import leave_one_out_advantages
from shared.experience import Experience
from shared.kl import k3
from shared.logps import completion_logps
from shared.rloo import RLOO, RLOOConfig, train
from tests.conftest import few_of
from tests.fakes import tiny_llama
from tests.test_table_lookup import REWARDS, sampled_groups

ROWS = [{"prompt": p, "answer": a} for p, a in [("abc", "a"), ("d", "b"), ("efg", "c"), ("hi", "d")]]
CONFIG = RLOOConfig(steps=3, prompts_per_step=4, num_generations=4, max_new_tokens=5, log_every=0)


def first_letter(prompts, completions, answer, **columns):
    return [float(c.startswith(a)) for c, a in zip(completions, answer)]


def longer_is_better(prompts, completions, **columns):
    return [float(len(c)) for c in completions]


def algorithm(model, tokenizer, reward=longer_is_better, config=CONFIG, **options):
    return RLOO(model, tokenizer, reward, config, **options)


def test_each_is_compared_with_the_mean_of_the_others():
    advantages, metrics = leave_one_out_advantages(torch.tensor([1.0, 0.0, 0.0, 3.0, 3.0, 3.0]), 3)
    torch.testing.assert_close(advantages, torch.tensor([1.0, -0.5, -0.5, 0.0, 0.0, 0.0]))
    assert metrics["frac_reward_zero_std"] == 0.5


@pytest.mark.usefixtures("shapes_unchecked")
def test_the_gradient_is_the_exact_policy_gradient_without_shrinking():
    """Catches the group's own mean as the baseline, which shrinks the gradient by (G - 1) / G: at G = 2 by half."""
    draws = 1500
    table = torch.randn(2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    exact = torch.autograd.grad((table.softmax(-1) * REWARDS).sum(-1).mean(), table)[0]
    gradients = []
    for seed in range(draws):
        logps, rewards = sampled_groups(table, 2, seed)
        advantages, _ = leave_one_out_advantages(rewards, 2)
        gradients.append(torch.autograd.grad((advantages.double() * logps).mean(), table)[0])
    gradients = torch.stack(gradients)
    spread = gradients.std(0) / draws**0.5
    assert ((gradients.mean(0) - exact).abs() < 5 * spread + 1e-12).all()  # five standard errors
    assert ((exact / 2 - exact).abs() > 10 * spread).any(), "the test must be able to see the shrinking"


@pytest.mark.parametrize("baseline", ["leave_one_out", "none"])
def test_the_gradient_is_that_of_the_sequence_ratio(model, tokenizer, baseline):
    """TRL's loss: -exp(sum of logps - sum of old logps) x A. Catches the mean over tokens in place of the sum."""
    ours = algorithm(model, tokenizer, config=replace(CONFIG, baseline=baseline))
    experience = ours.experience(ROWS, step=0)
    parameters = list(model.parameters())
    gradient = torch.autograd.grad(ours.loss(experience)[0], parameters)
    logps = completion_logps(model, experience.rollout)[0].sum(dim=1)
    ratio = torch.exp(logps - logps.detach())
    oracle = torch.autograd.grad(-(ratio * experience.advantages).mean(), parameters)
    torch.testing.assert_close(gradient, oracle, rtol=0, atol=1e-6)


def test_reinforce_takes_the_reward_as_it_is(model, tokenizer):
    experience = algorithm(model, tokenizer, config=replace(CONFIG, baseline="none")).experience(ROWS, step=0)
    assert torch.equal(experience.advantages, experience.rewards)


def test_the_penalty_is_taken_off_the_reward_once(tokenizer):
    model, reference = tiny_llama().eval(), tiny_llama(1).eval()
    config = replace(CONFIG, beta=0.5, baseline="none")
    experience: Experience = algorithm(model, tokenizer, config=config, reference=reference).experience(ROWS, 0)
    log_ratio = (experience.rollout.old_logps - experience.ref_logps).sum(dim=1)
    torch.testing.assert_close(experience.advantages, experience.rewards - 0.5 * log_ratio)
    assert experience.metrics["reward"] == pytest.approx(experience.rewards.mean().item())


def test_the_record_tells_the_kl_the_entropy_and_the_spread_of_the_task(tokenizer):
    """Catches metrics over the padding, of the penalised return in place of the reward, and a graph that is kept."""
    model, reference = tiny_llama().eval(), tiny_llama(1).eval()
    ours = algorithm(model, tokenizer, config=replace(CONFIG, beta=0.5), reference=reference)
    experience = ours.experience(ROWS, step=0)
    loss, metrics = ours.loss(experience)
    assert metrics == {"loss": loss} and not metrics["loss"].requires_grad
    logps, entropy = completion_logps(model, experience.rollout, with_entropy=True)
    real = experience.rollout.completion_mask.bool()
    kl = k3(logps, experience.ref_logps)[real].mean()
    assert experience.metrics["entropy"] == pytest.approx(entropy[real].mean().item())
    assert experience.metrics["kl"] == pytest.approx(kl.item())
    returns = experience.rewards - 0.5 * (experience.rollout.old_logps - experience.ref_logps).sum(dim=1)
    oracle, group_metrics = leave_one_out_advantages(returns, 4)
    torch.testing.assert_close(experience.advantages, oracle)
    assert experience.metrics["reward_std"] == group_metrics["reward_std"]
    assert experience.metrics["reward"] == pytest.approx(experience.rewards.mean().item())
    without = algorithm(model, tokenizer)
    assert "kl" not in without.experience(ROWS, step=0).metrics


def test_without_a_baseline_the_spread_is_that_of_all_rewards(tokenizer):
    experience = algorithm(tiny_llama().eval(), tokenizer, config=replace(CONFIG, baseline="none")).experience(ROWS, 0)
    spread = experience.rewards.var(correction=0).sqrt().item()
    assert experience.metrics["reward_std"] == pytest.approx(spread) and spread > 0
    assert "frac_reward_zero_std" not in experience.metrics


def test_a_piece_weighs_as_many_completions_as_it_has(tokenizer):
    """The loss is a mean over completions. Catches pieces that weigh by tokens."""
    ours = algorithm(tiny_llama().eval(), tokenizer)
    assert ours.weight(ours.experience(ROWS, step=0)) == 16


def test_equal_rewards_teach_without_a_baseline_unless_they_are_all_zero(tokenizer):
    plain = algorithm(tiny_llama(), tokenizer, config=replace(CONFIG, baseline="none"))
    records = [{"reward": reward, "reward_std": spread} for reward in (0.0, 1.0) for spread in (0.0, 1.0)]
    assert [plain.without_signal(record) for record in records] == [True, False, False, False]
    compared = algorithm(tiny_llama(), tokenizer)
    assert compared.without_signal({"reward": 1.0, "frac_reward_zero_std": 1.0})
    assert not compared.without_signal({"reward": 0.0, "reward_std": 0.0, "frac_reward_zero_std": 0.5})


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("baseline", few_of(["leave_one_out", "none"], ["leave_one_out"]))
def test_it_learns(tokenizer, baseline):
    model = tiny_llama(initializer_range=0.02).eval()
    config = RLOOConfig(
        steps=60,
        prompts_per_step=4,
        num_generations=16,
        max_new_tokens=1,
        learning_rate=1e-2,
        log_every=0,
        baseline=baseline,
    )
    history = train(model, tokenizer, ROWS, first_letter, config, progress=False)
    assert sum(r["reward"] for r in history[:3]) / 3 < 0.4
    assert sum(r["reward"] for r in history[-10:]) / 10 > (0.9 if baseline == "leave_one_out" else 0.75)


@pytest.mark.parametrize("name", ["num_iterations", "minibatches"])
def test_a_rollout_is_learned_from_once(name):
    with pytest.raises(ValueError, match="no longer the policy's own"):
        RLOOConfig(**{name: 2})
