"""The loss of a rollout in parts: the same loss and gradient, of which only one part is in memory at a time."""

import pytest
import torch

from shared.engine import piece_size
from shared.engine.sampling import Sampling
from shared.logps import completion_logps
from shared.parts import in_parts
from shared.rollout import sample
from tests.fakes import letter_tokenizer, tiny_llama

PROMPTS = ["ab", "abcde", "c"]
G = 4


@pytest.fixture
def drawn():
    model = tiny_llama().eval()
    return model, sample(model, letter_tokenizer(), PROMPTS, G, Sampling(5), seed=0)


def gradients(model, loss):
    return torch.autograd.grad(loss, list(model.parameters()))


def test_parts_have_the_gradient_of_the_whole_and_are_computed_one_behind_the_other(drawn, monkeypatch):
    """Catches parts that count alike whatever their size, rewards of other rows, and a pass that stays in memory."""
    model, rollout = drawn
    rewards = torch.arange(float(len(rollout)))
    seen = []

    def loss_of(policy, reference, part, earned, scale):
        seen.append(len(part.prompts))
        logps = completion_logps(policy, part)[0]
        return -scale * (earned * logps.sum(dim=1)).mean()

    whole = in_parts(loss_of, model, None, rollout, rewards, 0.5)
    wanted = gradients(model, whole)
    assert seen == [3]
    tokens = rollout.prompt_ids.size(1) + rollout.completion_ids.size(1)
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 2 * G * tokens * model.config.vocab_size)
    seen.clear()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.numel()) or tensor, lambda t: t):
        loss = in_parts(loss_of, model, None, rollout, rewards, 0.5)
    assert seen == [2, 1] and sum(kept) < 20
    torch.testing.assert_close(loss, whole)
    torch.testing.assert_close(gradients(model, loss), wanted)
    assert sorted(seen) == [1, 1, 2, 2]
