"""The hand-written gradient against autograd's."""

import pytest
import torch

from shared.engine import logits as logits_module
from shared.engine.logits import entropy_of, in_chunks, token_logps


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_the_short_gradient_of_a_log_probability_is_the_one_autograd_finds(chunk, monkeypatch):
    """Catches a sign, a forgotten one-hot or a chunk border in the written backward; cut tokens have logit -inf."""
    monkeypatch.setattr(logits_module, "CHUNK", chunk)
    logits = torch.randn(3, 4, 11, generator=seeded(), dtype=torch.float64)
    logits[:, :, 2:5] = -torch.inf
    choice = torch.randint(5, 11, (3, 4), generator=seeded())
    weight = torch.randn(3, 4, generator=seeded(1), dtype=torch.float64)
    gradients = []
    for way in (token_logps, lambda x, y: x.log_softmax(dim=-1).gather(-1, y[..., None])[..., 0]):
        variable = logits.clone().requires_grad_()
        (way(variable, choice) * weight).sum().backward()
        gradients.append(variable.grad)
        torch.testing.assert_close(way(logits, choice), logits.log_softmax(-1).gather(-1, choice[..., None])[..., 0])
    torch.testing.assert_close(gradients[0], gradients[1])


def test_chunks_hold_every_row_once(monkeypatch):
    """Catches a last chunk that is dropped because it is short."""
    monkeypatch.setattr(logits_module, "CHUNK", 20)
    rows = torch.arange(5)[:, None].expand(5, 8)
    assert torch.cat([rows[chunk, 0] for chunk in in_chunks(rows)]).tolist() == [0, 1, 2, 3, 4]


def test_entropy_counts_a_token_that_cannot_come_as_nothing():
    """Catches 0 x -inf = nan."""
    entropy = entropy_of(torch.tensor([[0.0, 0.0, -torch.inf], [0.0, -torch.inf, -torch.inf]]))
    torch.testing.assert_close(entropy, torch.tensor([2.0, 1.0]).log())
