"""The experience that PPO collects before it learns: rewards at the last token, values, the reference's KL, advantages."""

from dataclasses import replace

import pytest
import torch

from shared import ppo
from shared.advantages import gae, whiten
from shared.critic import ActorCritic
from shared.logps import completion_logps
from shared.models import add_lora
from tests.fakes import tiny_llama
from tests.ppo import CONFIG, ROWS, count_a, experience_of


def test_the_rewards_stand_at_the_last_token():
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0]])
    assert ppo.token_rewards(torch.tensor([2.0, 3.0, 4.0]), mask).tolist() == [[0, 2, 0], [0, 0, 3], [4, 0, 0]]


def test_the_rewards_are_placed_where_the_policy_is():
    """Rewards are counted on the CPU, and tokens live on the device."""
    assert (
        ppo.token_rewards(torch.tensor([2.0]), torch.ones(1, 3, dtype=torch.long, device="meta")).device.type == "meta"
    )


@pytest.mark.parametrize(
    "beta, kl_in, with_reference",
    [(0.5, "loss", True), (0.5, "reward", True), (0.0, "loss", True), (0.0, "loss", False), (0.0, "reward", True)],
)
def test_the_reference_is_asked_for_what_is_needed(tokenizer, beta, kl_in, with_reference):
    """The KL is in the record whenever there is a reference; the logits of all words are kept for the exact KL alone."""
    config = replace(CONFIG, beta=beta, kl_in=kl_in)
    reference = tiny_llama(7).eval() if with_reference else None
    experience = ppo.collect(ActorCritic(tiny_llama().eval()), reference, tokenizer, ROWS, count_a, config)
    rollout = experience.rollout
    if not with_reference:
        assert experience.ref_logps is None and experience.ref_logits is None and "kl" not in experience.metrics
        return
    torch.testing.assert_close(experience.ref_logps, completion_logps(reference, rollout)[0], rtol=1e-4, atol=1e-5)
    log_r = (experience.ref_logps - rollout.old_logps)[rollout.completion_mask.bool()]
    assert experience.metrics["kl"] == pytest.approx((log_r.exp() - 1 - log_r).mean().item(), rel=1e-4)
    assert (experience.ref_logits is not None) == (beta > 0 and kl_in == "loss")


def test_what_was_collected_has_no_gradient_and_the_rewards_are_the_tasks(tokenizer):
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.normal_(policy.value_head[-1].weight)
    experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, CONFIG)
    tensors = (
        experience.advantages,
        experience.returns,
        experience.old_values,
        experience.ref_logps,
        experience.ref_logits,
    )
    assert not any(tensor.requires_grad for tensor in tensors)
    assert experience.rewards.tolist() == experience.rewards_per_func[:, 0].tolist()
    assert experience.metrics["reward"] == pytest.approx(experience.rewards.mean().item())
    assert experience.metrics["reward_std"] == pytest.approx(experience.rewards.var(correction=0).sqrt().item())
    torch.testing.assert_close(experience.old_values, policy(experience.rollout)[1])


def test_a_part_of_an_experience_is_that_of_its_prompts(tokenizer):
    """Catches returns or values of other prompts, with which a minibatch would be trained."""
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.normal_(policy.value_head[-1].weight)
    whole = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, replace(CONFIG, num_generations=2))
    part = whole.take([2, 1])
    width = part.rollout.completion_ids.size(1)
    for name in ("returns", "old_values", "ref_logits", "advantages"):
        assert torch.equal(getattr(part, name), getattr(whole, name)[[4, 5, 2, 3], :width]), name
    assert part.rollout.prompts == ["c", "abcab"]
    assert replace(whole, ref_logits=None).take([0]).ref_logits is None


def test_kl_in_the_reward_is_taken_off_each_token_and_not_paid_again_in_the_loss(model, tokenizer):
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    config = replace(CONFIG, kl_in="reward", beta=0.5, whiten_advantages=False)
    experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, config)
    mask = experience.rollout.completion_mask
    rewards = ppo.token_rewards(experience.rewards, mask)
    rewards = rewards - 0.5 * (experience.rollout.old_logps - experience.ref_logps)
    advantages, returns = gae(rewards, experience.old_values, mask, config.lam)
    torch.testing.assert_close(experience.advantages, advantages)
    torch.testing.assert_close(experience.returns, returns)
    loss, _ = ppo.ppo_loss(policy, experience, config)
    torch.testing.assert_close(loss, ppo.ppo_loss(policy, experience, replace(config, beta=0.0))[0])


def test_kl_in_the_loss_is_not_taken_off_the_rewards_too(tokenizer):
    """Catches a KL that is paid twice; the reference must be another model, or there is nothing to pay."""
    config = replace(CONFIG, kl_in="loss", beta=0.5, whiten_advantages=False, lam=0.3)
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.normal_(policy.value_head[-1].weight)
    experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, config)
    mask = experience.rollout.completion_mask
    advantages, returns = gae(ppo.token_rewards(experience.rewards, mask), experience.old_values, mask, lam=0.3)
    torch.testing.assert_close(experience.advantages, advantages)
    torch.testing.assert_close(experience.returns, returns)
    by_default = ppo.collect(policy, None, tokenizer, ROWS, count_a, replace(config, beta=0.0))
    first = ppo.collect(policy, None, tokenizer, ROWS, count_a, replace(config, beta=0.0), step=0)
    assert by_default.rollout.completions == first.rollout.completions


def test_the_policy_is_no_reference_of_its_own(tokenizer):
    policy = ActorCritic(tiny_llama().eval())
    with pytest.raises(ValueError, match="reference is the policy itself"):
        ppo.collect(policy, policy.model, tokenizer, ROWS, count_a, CONFIG)


def test_the_reference_under_lora_is_the_model_without_its_adapters(tokenizer):
    base = tiny_llama().eval()
    model = add_lora(tiny_llama().eval(), r=2)
    for name, parameter in model.named_parameters():
        if "lora" in name:
            torch.nn.init.constant_(parameter, 0.1)
    experience = ppo.collect(ActorCritic(model), None, tokenizer, ROWS, count_a, CONFIG)
    oracle = completion_logps(base, experience.rollout)[0]
    torch.testing.assert_close(experience.ref_logps, oracle, rtol=1e-4, atol=1e-5)
    assert experience.metrics["kl"] > 1e-3


@pytest.mark.parametrize("whitened", [True, False])
def test_advantages_are_whitened_when_asked(model, tokenizer, whitened):
    policy, experience = experience_of(model, tokenizer, replace(CONFIG, whiten_advantages=whitened))
    mask = experience.rollout.completion_mask
    plain, _ = gae(ppo.token_rewards(experience.rewards, mask), experience.old_values, mask, CONFIG.lam)
    torch.testing.assert_close(experience.advantages, whiten(plain, mask) if whitened else plain)
    assert not torch.allclose(whiten(plain, mask), plain, atol=0.1)
