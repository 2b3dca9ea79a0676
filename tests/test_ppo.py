"""PPO: advantages against hand-worked and enumerated cases, the value head's alignment, and the objective's parts."""

import itertools
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import ppo, training
from shared.advantages import gae, one_step_advantages, whiten
from shared.constrain import answer_trie
from shared.critic import ActorCritic
from shared.engine.sampling import Sampling
from shared.logps import completion_logps, token_logps
from shared.losses import clipped_value_loss
from shared.models import add_lora, frozen_copy
from shared.ppo import PPO, PPOConfig
from shared.rollout import sample
from tests.conftest import tiny_gpt2, tiny_llama
from tests.test_logps import Kept

ROWS = [{"prompt": "ab"}, {"prompt": "abcab"}, {"prompt": "c"}, {"prompt": "bca"}]


def count_a(prompts, completions, **columns):
    return [float(c.count("a")) for c in completions]


@pytest.fixture
def rollout(model, tokenizer):
    return sample(model, tokenizer, [row["prompt"] for row in ROWS], 2, Sampling(6), seed=0)


# --- advantages


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


def test_the_one_step_form_is_next_value_minus_value_and_the_reward_at_the_end():
    rewards, values = torch.tensor([[0, 0, 1.0]]), torch.tensor([[0.5, 0.6, 0.9]])
    advantages, _ = one_step_advantages(rewards, values, torch.ones(1, 3))
    assert advantages.tolist() == [pytest.approx([0.1, 0.3, 0.1])]
    assert advantages.shape == values.shape  # published code has one column too many


def test_lam_one_is_return_minus_value():
    rewards, values = torch.rand(3, 5), torch.rand(3, 5)
    advantages, _ = gae(rewards, values, torch.ones(3, 5), lam=1.0)
    assert torch.allclose(advantages, rewards.flip(1).cumsum(1).flip(1) - values)


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


def test_the_value_loss_is_the_worse_of_free_and_clipped():
    values, old, returns = torch.tensor([[1.0, 0.1]]), torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])
    loss, metrics = clipped_value_loss(values, old, returns, torch.ones(1, 2), epsilon=0.2)
    assert loss.item() == pytest.approx(((0.2 - 1) ** 2 + 0.1**2) / 2 / 2)
    assert metrics == {"value_loss": loss, "value_clip_ratio": 0.5}
    fallen, _ = clipped_value_loss(torch.zeros(1, 1), torch.ones(1, 1), torch.zeros(1, 1), torch.ones(1, 1))
    assert fallen.item() == pytest.approx(0.8**2 / 2), "a value that falls is held back as well"
    poisoned = clipped_value_loss(torch.tensor([[1.0, 1e9]]), old, returns, torch.tensor([[1, 0]]))[0]
    assert poisoned.item() == pytest.approx(0.32)


# --- the policy with a value head


def test_the_rewards_stand_at_the_last_token():
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0]])
    assert ppo.token_rewards(torch.tensor([2.0, 3.0, 4.0]), mask).tolist() == [[0, 2, 0], [0, 0, 3], [4, 0, 0]]


def test_the_rewards_are_placed_where_the_policy_is():
    """Rewards are counted on the CPU, and tokens live on the device."""
    assert (
        ppo.token_rewards(torch.tensor([2.0]), torch.ones(1, 3, dtype=torch.long, device="meta")).device.type == "meta"
    )


def test_logits_are_those_of_the_core(model, rollout):
    logits, _ = ActorCritic(model)(rollout)
    logps = token_logps(logits, rollout.completion_ids) * rollout.completion_mask
    assert torch.allclose(logps, completion_logps(model, rollout)[0], atol=1e-5)
    assert torch.allclose(logps, rollout.old_logps, atol=1e-5)


def test_a_value_sees_the_tokens_before_it_and_not_its_own(model, rollout):
    """A value that sees the token it judges has seen the answer."""
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    _, values = policy(rollout)
    changed = rollout.completion_ids.clone()
    changed[:, 2] = (changed[:, 2] + 1) % 5 + 2
    _, after = policy(replace(rollout, completion_ids=changed))
    assert torch.allclose(values[:, :3], after[:, :3], atol=1e-5)
    long_rows = rollout.lengths > 3
    assert long_rows.any() and not torch.allclose(values[long_rows, 3], after[long_rows, 3], atol=1e-5)


def test_values_do_not_depend_on_the_padding_around_them(model, tokenizer):
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    together = sample(model, tokenizer, ["c", "abcabcab"], 1, Sampling(4), seed=1)
    alone = together.take([0])
    real = int(together.prompt_mask[0].sum())
    trimmed = replace(alone, prompt_ids=alone.prompt_ids[:, -real:], prompt_mask=alone.prompt_mask[:, -real:])
    width = alone.completion_ids.size(1)
    assert torch.allclose(policy(together)[1][:1, :width], policy(trimmed)[1], atol=1e-5)


def test_the_value_head_is_saved_and_loaded_with_the_model(model, tmp_path, rollout):
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    policy.save_pretrained(tmp_path)
    loaded = ActorCritic.from_pretrained(tmp_path, type(model).from_pretrained(tmp_path))
    assert torch.allclose(policy(rollout)[1], loaded(rollout)[1], atol=1e-5)
    with pytest.raises(ValueError, match="holds no value_head.pt"):
        ActorCritic.from_pretrained(tmp_path / "nowhere", model)


# --- the step


def experience_of(model, tokenizer, config):
    policy = ActorCritic(model)
    experience = ppo.collect(policy, frozen_copy(model), tokenizer, ROWS, count_a, config)
    return policy, experience


CONFIG = PPOConfig(
    steps=3, prompts_per_step=4, num_generations=4, max_new_tokens=5, minibatches=2, num_iterations=2, log_every=0
)


@pytest.mark.parametrize("kl_in", ["loss", "reward"])
def test_before_the_first_update_nothing_has_moved_and_the_kl_is_zero(model, tokenizer, kl_in):
    policy, experience = experience_of(model, tokenizer, replace(CONFIG, kl_in=kl_in))
    _, metrics = ppo.ppo_loss(policy, experience, CONFIG)
    assert metrics["moved"] == pytest.approx(0, abs=1e-6) and metrics["clip_ratio"] == 0
    assert experience.metrics["kl"] == pytest.approx(0, abs=1e-6)


def test_policy_and_head_move(model, tokenizer):
    policy = ActorCritic(model)
    before = [p.detach().clone() for p in policy.parameters()]
    history = ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, CONFIG, progress=False)
    moved = [not torch.equal(a, b) for a, b in zip(before, policy.parameters())]
    assert all(moved) and len(history) == 3


def test_without_the_policy_term_and_the_value_term_the_policy_stays(model, tokenizer):
    """At the reference the gradient of the KL is 0: what a loop without policy gradient learns is nothing."""
    config = replace(CONFIG, policy_coef=0.0, value_coef=0.0, beta=1.0)
    policy = ActorCritic(model)
    _, experience = experience_of(model, tokenizer, config)
    loss, _ = ppo.ppo_loss(policy, experience, config)
    loss.backward()
    assert max(p.grad.abs().max() for p in policy.model.parameters() if p.grad is not None) < 1e-5


def test_it_learns_to_say_a(model, tokenizer):
    policy = ActorCritic(model)
    config = replace(CONFIG, steps=25, num_generations=8, learning_rate=3e-3, beta=0.0)
    history = ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, config, progress=False)
    assert sum(r["reward"] for r in history[-5:]) > 1.8 * sum(r["reward"] for r in history[:5])


def learn(policy, tokenizer, experience, optimizer, config):
    algorithm = PPO(policy, tokenizer, count_a, config)
    return training.learn(algorithm, experience, config, 0, optimizer)


def test_a_policy_that_has_moved_far_ends_its_epochs(model, tokenizer):
    policy, experience = experience_of(model, tokenizer, CONFIG)
    optimizer = torch.optim.SGD(policy.parameters(), lr=50.0)
    updates = learn(policy, tokenizer, experience, optimizer, replace(CONFIG, num_iterations=10, target_kl=0.01))
    assert len(updates) < 20


def test_a_loss_that_is_not_finite_changes_nothing(model, tokenizer):
    """Catches one bad rollout that turns every weight of policy and critic into nan."""
    policy, experience = experience_of(model, tokenizer, CONFIG)
    broken = replace(experience, advantages=torch.full_like(experience.advantages, torch.nan))
    before = [p.detach().clone() for p in policy.parameters()]
    learn(policy, tokenizer, broken, torch.optim.AdamW(policy.parameters(), lr=0.1), CONFIG)
    assert all(torch.equal(p, q) for p, q in zip(policy.parameters(), before))


MOST = {
    "policy_coef": 2.0,
    "value_coef": 3.0,
    "entropy_coef": 0.5,
    "beta": 0.7,
    "epsilon": 0.05,
    "value_epsilon": 0.02,
}


@pytest.mark.parametrize("options", [{name: value} for name, value in MOST.items()] + [MOST])
def test_every_term_of_the_objective_has_its_weight_and_its_range(tokenizer, options):
    """The formula of the docstring again, term by term over the real tokens, against `ppo_loss`."""
    model = tiny_llama().eval()
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, CONFIG)
    rollout = experience.rollout
    signs = (torch.arange(rollout.old_logps.size(1)) % 2 * 2 - 1) * 0.1
    experience.old_values[:] += signs
    rollout.old_logps[:] += signs
    config = replace(CONFIG, **options)
    loss, metrics = ppo.ppo_loss(policy, experience, config)

    real = rollout.completion_mask.bool()
    logits, values = policy(rollout)
    old = rollout.old_logps[real]
    logps = logits.log_softmax(-1).gather(-1, rollout.completion_ids[..., None])[..., 0][real]
    ratio, advantages = (logps - old).exp(), experience.advantages[real]
    clipped_ratio = ratio.clamp(1 - config.epsilon, 1 + config.epsilon)
    surrogate = torch.minimum(ratio * advantages, clipped_ratio * advantages)
    values, old_values, returns = values[real], experience.old_values[real], experience.returns[real]
    clipped_values = values.clamp(old_values - config.value_epsilon, old_values + config.value_epsilon)
    value_loss = torch.maximum((values - returns) ** 2, (clipped_values - returns) ** 2).mean() / 2
    distribution = torch.distributions.Categorical(logits=logits[real])
    reference = torch.distributions.Categorical(logits=experience.ref_logits[real])
    kl = torch.distributions.kl_divergence(distribution, reference).mean()
    entropy = distribution.entropy().mean()
    oracle = -config.policy_coef * surrogate.mean() + config.value_coef * value_loss
    oracle = oracle + config.beta * kl - config.entropy_coef * entropy
    torch.testing.assert_close(loss, oracle)
    expected = {
        "loss": oracle,
        "value_loss": value_loss,
        "value_clip_ratio": ((clipped_values - returns) ** 2 > (values - returns) ** 2).float().mean(),
        "clip_ratio": (clipped_ratio * advantages < ratio * advantages).float().mean(),
        "moved": ((old - logps).exp() - 1 - (old - logps)).mean(),
    }
    assert {k: v.item() for k, v in metrics.items()} == pytest.approx(
        {k: v.item() for k, v in expected.items()}, rel=1e-4
    )
    assert not any(value.requires_grad for value in metrics.values())
    parameters = [model.lm_head.weight, policy.value_head[-1].weight]
    ours, theirs = (torch.autograd.grad(value, parameters, retain_graph=True) for value in (loss, oracle))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


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


def test_the_first_values_are_zero_and_the_head_computes_in_its_own_precision(tokenizer):
    """Catches a noisy first baseline, and a half-precision model whose hidden states the head cannot take."""
    model = tiny_llama().eval()
    rollout = sample(model, tokenizer, ["ab", "c"], 2, Sampling(4), seed=0)
    policy = ActorCritic(model)
    _, values = policy(rollout)
    assert values.dtype == torch.float32 and not values.any()
    assert [tuple(p.shape) for p in policy.value_head.parameters()] == [(32, 32), (32,), (1, 32), (1,)]
    assert isinstance(policy.value_head[1], torch.nn.Tanh), "two linear layers alone are one"
    torch.nn.init.normal_(policy.value_head[-1].weight)
    in_float = policy(rollout)[1]
    model.to(torch.bfloat16)
    torch.testing.assert_close(policy(rollout)[1], in_float, rtol=0.1, atol=0.3)
    assert ActorCritic(tiny_llama().to("meta")).value_head[0].weight.device.type == "meta"
    assert policy.config is model.config


def test_dropout_is_off_and_no_cache_is_kept(tokenizer):
    """With dropout the policy that is scored is not the one that sampled."""
    model = tiny_gpt2(dropout=0.5).train()
    rollout = sample(model, tokenizer, ["ab", "c"], 2, Sampling(4), seed=0)
    policy = ActorCritic(model).train()
    seen = []
    handle = model.register_forward_pre_hook(lambda module, args, options: seen.append(options), with_kwargs=True)
    first, second = policy(rollout)[0], policy(rollout)[0]
    handle.remove()
    assert torch.equal(first, second) and model.training
    assert seen[0]["use_cache"] is False and seen[0]["logits_to_keep"] == rollout.completion_ids.size(1) + 1
    prompts = rollout.prompt_mask.repeat_interleave(2, dim=0)
    assert torch.equal(seen[0]["attention_mask"], torch.cat([prompts, rollout.completion_mask], dim=1))


def test_the_critic_reads_the_state_that_the_logits_are_made_of(model, rollout):
    """Catches a hidden state of another layer, or of the token itself: the model's last layer makes the logits of it."""
    logits, hidden = ppo.logits_and_hidden(model, rollout)
    torch.testing.assert_close(model.lm_head(hidden), logits, rtol=1e-4, atol=1e-5)


def test_a_token_that_rounding_put_out_of_the_top_k_stays_finite(model, rollout):
    """Catches a log-probability of minus infinity, and with it a ratio of 0, for a token that was sampled."""
    least = ppo.logits_and_hidden(model, rollout)[0].argmin(dim=-1)
    unlikely = replace(rollout, completion_ids=least, sampling=Sampling(6, top_k=2))
    logits, _ = ppo.logits_and_hidden(model, unlikely)
    chosen = logits.gather(-1, least[..., None])
    assert chosen[:, 0].isfinite().all() and (logits[:, 0].isfinite().sum(dim=-1) == 3).all()


def test_equal_rewards_give_no_signal(tokenizer):
    algorithm = PPO(ActorCritic(tiny_llama()), tokenizer, count_a, CONFIG)
    assert [algorithm.without_signal({"reward_std": std}) for std in (0.0, 0.5, 1.0)] == [True, False, False]
    assert algorithm.policy is algorithm.model.model and algorithm.vocab_size == 12


def test_both_places_of_the_kl_hold_the_policy_back(model, tokenizer):
    """The same run with a strong penalty ends nearer to the reference, in the loss and in the reward."""

    def kl_at_the_end(kl_in, beta):
        policy = ActorCritic(frozen_copy(model).requires_grad_(True))
        config = replace(CONFIG, steps=12, learning_rate=3e-3, kl_in=kl_in, beta=beta, num_generations=8)
        return ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, config, progress=False)[-1]["kl"]

    free = kl_at_the_end("loss", 0.0)
    assert kl_at_the_end("loss", 1.0) < 0.5 * free
    assert kl_at_the_end("reward", 1.0) < 0.7 * free


def test_the_entropy_bonus_lowers_the_loss(model, tokenizer):
    """Catches a bonus with the sign of a penalty."""
    policy, experience = experience_of(model, tokenizer, CONFIG)
    plain, _ = ppo.ppo_loss(policy, experience, CONFIG)
    loss, _ = ppo.ppo_loss(policy, experience, replace(CONFIG, entropy_coef=0.5))
    entropy = experience.metrics["entropy"]  # of the policy that sampled, and still is
    assert entropy > 0.1 and (plain - loss).item() == pytest.approx(0.5 * entropy, rel=1e-4)


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


def test_policy_and_head_have_their_own_learning_rates(model, tokenizer):
    """AdamW's first step moves a parameter by its learning rate; catches one rate for both."""
    policy = ActorCritic(model)
    torch.nn.init.normal_(policy.value_head[-1].weight)
    groups = [policy.model.parameters(), policy.value_head.parameters()]
    before = [[p.detach().clone() for p in group] for group in map(list, groups)]
    config = replace(CONFIG, steps=1, num_iterations=1, minibatches=1, learning_rate=1e-4, head_learning_rate=1e-2)
    ppo.train(policy, frozen_copy(model), tokenizer, ROWS, count_a, config, progress=False)
    after = [policy.model.parameters(), policy.value_head.parameters()]
    moved = [max((a - b).abs().max() for a, b in zip(new, old)).item() for new, old in zip(after, before)]
    assert moved == pytest.approx([1e-4, 1e-2], rel=0.02)


def test_target_kl_is_a_bound_on_what_has_moved(model, tokenizer):
    bounded, free = (PPO(ActorCritic(model), tokenizer, count_a, replace(CONFIG, target_kl=k)) for k in (0.1, 0.0))
    assert [bounded.enough({"moved": m}) for m in (0.05, 0.1, 0.2)] == [False, False, True] and not free.enough(
        {"moved": 9.0}
    )


def test_a_constraint_holds_in_sampling_loss_and_kl(model, tokenizer):
    """PPO knew no constraint. Before the first update the ratio is 1 and the KL to the own copy 0, over allowed tokens."""
    trie = answer_trie(tokenizer, ["a", "ab", "b", "ccc"])
    policy = ActorCritic(model)
    experience = ppo.collect(policy, frozen_copy(model), tokenizer, ROWS, count_a, CONFIG, constraint=trie)
    assert set(experience.rollout.completions) <= {"a", "ab", "b", "ccc"}
    assert experience.ref_logits.size(-1) == trie.token_ids.size(1)
    loss, metrics = ppo.ppo_loss(policy, experience, CONFIG)
    assert metrics["moved"] == pytest.approx(0, abs=1e-6) and metrics["clip_ratio"] == 0
    gradients = torch.autograd.grad(loss, [p for p in policy.parameters() if p.requires_grad], allow_unused=True)
    assert all(g is None or g.isfinite().all() for g in gradients)


@pytest.mark.parametrize("kl_in", ["loss", "reward"])
def test_the_gradient_in_pieces_is_that_of_the_whole(tokenizer, kl_in, monkeypatch):
    results = []
    for at_once in (10**9, 1):
        monkeypatch.setattr(training, "LOGITS_AT_ONCE", at_once)
        policy = ActorCritic(tiny_llama().eval())
        config = replace(CONFIG, kl_in=kl_in, minibatches=1, num_iterations=1, steps=1, entropy_coef=0.1, target_kl=0.0)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        experience = ppo.collect(policy, tiny_llama(7).eval(), tokenizer, ROWS, count_a, config)
        (metrics,) = learn(policy, tokenizer, experience, optimizer, config)
        results.append((metrics, [p.detach() for p in policy.parameters()]))
    (whole, moved), (pieces, moved_in_pieces) = results
    assert pieces == pytest.approx(whole, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(moved_in_pieces, moved, rtol=0, atol=1e-6)


def test_top_p_with_an_exact_kl_is_refused():
    with pytest.raises(ValueError, match="infinite"):
        PPOConfig(top_p=0.9)
    assert PPOConfig(top_p=0.9, kl_in="reward").top_p == 0.9


@pytest.mark.parametrize(
    "wrong",
    [dict(steps=0), dict(lam=2.0), dict(kl_in="both"), dict(minibatches=99), dict(learning_rate=0.0), dict(beta=-1.0)],
)
def test_settings_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)) if "minibatches" not in wrong else "minibatches"):
        PPOConfig(**wrong)


@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2])
def test_gradient_checkpointing_acts_and_changes_no_gradient(make, tokenizer):
    """Catches checkpointing that evaluation mode turns off, and dropout in the blocks that are computed again."""
    model = make(dropout=0.5).double().train()
    rollout = sample(model, tokenizer, ["abc", "d"], 4, Sampling(8), seed=0)
    policy = ActorCritic(model)
    results = []
    for checkpointed in (False, True):
        if checkpointed:
            model.gradient_checkpointing_enable()
        with Kept(model) as kept:
            logits, _ = policy(rollout)
        model.zero_grad()
        logits.sum().backward()
        results.append((kept.numbers, [parameter.grad.clone() for parameter in model.parameters()]))
    (whole, gradients), (less, again) = results
    assert less < 0.5 * whole
    torch.testing.assert_close(again, gradients, rtol=1e-5, atol=1e-5)
