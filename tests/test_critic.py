"""The policy with a value head: what a value sees, and that the logits stay the model's."""

from dataclasses import replace

import pytest
import torch

from shared import ppo
from shared.critic import ActorCritic
from shared.engine.sampling import Sampling
from shared.logps import completion_logps, token_logps
from shared.rollout import sample
from tests.fakes import tiny_gpt2, tiny_llama
from tests.ppo import ROWS
from tests.test_logps import Kept


@pytest.fixture
def rollout(model, tokenizer):
    return sample(model, tokenizer, [row["prompt"] for row in ROWS], 2, Sampling(6), seed=0)


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


def test_what_the_critic_learns_reaches_the_model_below_its_head(model, rollout):
    """Catches a hidden state cut off from its graph: the head would be all that the value loss trains."""
    policy = ActorCritic(model)
    torch.nn.init.ones_(policy.value_head[-1].weight)
    _, values = policy(rollout)
    found = torch.autograd.grad(values.sum(), list(model.parameters()), allow_unused=True)
    assert any(gradient is not None and gradient.any() for gradient in found)
