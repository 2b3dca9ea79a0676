"""GRPO in one file computes what the course's computes."""

from pathlib import Path

import pytest
import torch

from shared import plain
from shared.advantages import group_advantages
from shared.engine.sampling import Sampling
from shared.experience import Experience
from shared.grpo import GRPOConfig, policy_loss
from shared.logps import plain_logps
from shared.models import load_policy
from shared.rollout import Rollout
from shared.tasks import dots
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama

G = 3
# Of different lengths, so that two of them are padded on the left.
PROMPTS = [prompt for prompt in ("abc", "d", "efghij") for _ in range(G)]
REWARDS = torch.tensor([1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0])  # the second group teaches nothing


@pytest.fixture(params=[False, True], ids=["pad", "pad is eos"])
def tokenizer(request):
    return letter_tokenizer(request.param)


@pytest.fixture
def model():
    return tiny_llama(initializer_range=0.1).eval()


@pytest.fixture
def batch(model, tokenizer):
    torch.manual_seed(3)
    batch, _ = plain.sample(model, tokenizer, PROMPTS, length=8)
    return batch


def as_rollout(batch: plain.Batch) -> Rollout:
    """The same completions as `shared.rollout.sample` would give them."""
    lengths = batch.completion_mask.sum(dim=1)
    first = slice(None, None, G)  # the course keeps each prompt once
    return Rollout(
        prompts=PROMPTS[first],
        completions=[""] * len(PROMPTS),
        num_generations=G,
        prompt_ids=batch.prompt_ids[first],
        prompt_mask=batch.prompt_mask[first],
        completion_ids=batch.completion_ids,
        completion_mask=batch.completion_mask,
        old_logps=batch.old_logps * batch.completion_mask,
        prompt_lengths=batch.prompt_mask[first].sum(dim=1),
        lengths=lengths,
        truncated=lengths == 8,
        sampling=Sampling(8),
    )


def gradient(loss, model):
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))])


def test_completions_end_with_their_first_eos(batch, tokenizer):
    """Catches a mask of `ids != pad`, which loses the EOS where the two are one, and a mask that goes past it."""
    ended = 0
    for ids, mask in zip(batch.completion_ids.tolist(), batch.completion_mask.tolist()):
        length = sum(mask)
        assert mask == [1] * length + [0] * (len(mask) - length)
        assert tokenizer.eos_token_id not in ids[: length - 1]
        ended += ids[length - 1] == tokenizer.eos_token_id
        assert ids[length - 1] == tokenizer.eos_token_id or length == 8
    assert ended > 2  # or the test would be about nothing


@pytest.mark.parametrize("build", [tiny_llama, tiny_gpt2])
def test_sampling_and_scoring_are_one_distribution(build, tokenizer):
    """Catches positions that padding shifts, a cache that is read at the wrong place, and logits of the next token.

    GPT-2 learns its positions. Llama's rotate, and do not show a shift that all tokens of a row share.
    """
    model = build().eval()
    torch.manual_seed(3)
    batch, _ = plain.sample(model, tokenizer, PROMPTS, length=8)
    mask = batch.completion_mask
    expected = plain_logps(model, as_rollout(batch))
    torch.testing.assert_close(plain.completion_logps(model, batch) * mask, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(batch.old_logps * mask, expected.detach(), atol=1e-5, rtol=0)


@pytest.mark.parametrize("moved", [False, True], ids=["first update", "later update"])
def test_loss_and_gradient_are_those_of_the_course(model, batch, moved):
    """At the first update the ratio is 1; later, some are clipped. Behind each EOS stand values that nobody may read."""
    reference = tiny_llama(seed=1, initializer_range=0.1).eval()
    if moved:
        with torch.no_grad():
            torch.manual_seed(0)
            for parameter in model.parameters():
                parameter += 0.02 * torch.randn_like(parameter)
    old_logps = batch.old_logps.masked_fill(batch.completion_mask == 0, -1e9)
    with torch.no_grad():
        ref_logps = plain.completion_logps(reference, batch)
        expected_ref_logps = plain_logps(reference, as_rollout(batch))
    advantages = plain.group_advantages(REWARDS, G)
    logps = plain.completion_logps(model, batch)
    loss = plain.grpo_loss(logps, old_logps, ref_logps, advantages, batch.completion_mask)

    config = GRPOConfig(num_generations=G, max_new_tokens=8, beta=0.02)
    expected_advantages, _ = group_advantages(REWARDS, G)
    experience = Experience(
        rollout=as_rollout(batch),
        rewards_per_func=REWARDS[:, None],
        rewards=REWARDS,
        advantages=expected_advantages,
        ref_logps=expected_ref_logps,
        metrics={},
    )
    expected, metrics = policy_loss(model, experience, config)
    assert bool(metrics["clip_ratio"] > 0.05) == moved
    torch.testing.assert_close(advantages, expected_advantages, atol=1e-5, rtol=0)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=0)
    ours, theirs = gradient(loss, model), gradient(expected, model)
    assert theirs.abs().max() > 1e-2
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_it_stays_short():
    """Catches a file that takes back in, bit by bit, what it leaves out."""
    assert len(Path(plain.__file__).read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.slow
def test_it_learns_to_count(capsys):
    """Greedy, on held-out rows, in fifteen steps: from none right to most."""
    model, tokenizer = load_policy(plain.MODEL, device="cpu")
    held_out = dots.dataset("eval", 100)
    before = plain.attempt(model, tokenizer, held_out, greedy=True)[1].mean()
    plain.train(model, tokenizer, dots.dataset("train", 512), steps=15)
    after = plain.attempt(model, tokenizer, held_out, greedy=True)[1].mean()
    assert before < 0.2 and after > 0.8
    assert capsys.readouterr().out.count("reward") == 3
