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


def test_a_row_of_large_logits_leaves_the_small_ones_of_another_alone():
    """Catches one largest logit for all rows: exp(-2000) is 0, and its logarithm -inf."""
    logits = torch.tensor([[1000.0, 999.0, 998.0], [-1000.0, -1001.0, -1002.0]])
    expected = logits.log_softmax(dim=-1)[:, 1]
    torch.testing.assert_close(token_logps(logits, torch.tensor([1, 1])), expected)


def test_chunks_hold_every_row_once(monkeypatch):
    """Catches a last chunk that is dropped because it is short."""
    monkeypatch.setattr(logits_module, "CHUNK", 20)
    rows = torch.arange(5.0)[:, None].expand(5, 8)
    assert torch.cat([rows[chunk, 0] for chunk in in_chunks(rows)]).tolist() == [0, 1, 2, 3, 4]
    assert in_chunks(rows) == [slice(0, 2), slice(2, 4), slice(4, 6)]
    assert in_chunks(torch.zeros(4, 10)) == [slice(0, 2), slice(2, 4)], "20 logits are at most 20"
    assert in_chunks(torch.zeros(2, 21)) == [slice(0, 1), slice(1, 2)], "one row is the least"
    assert len(in_chunks(rows[:0])) == 1, "no rows are one empty chunk, which `torch.cat` can take"


def test_entropy_counts_a_token_that_cannot_come_as_nothing():
    """Catches 0 x -inf = nan."""
    logits = torch.tensor([[0.0, 0.0, -torch.inf], [0.0, -torch.inf, -torch.inf]])
    expected = torch.tensor([2.0, 1.0]).log()
    torch.testing.assert_close(entropy_of(logits), expected)
    torch.testing.assert_close(entropy_of(logits[None]), expected[None])


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_tokens_that_share_a_row_of_logits_share_its_gradient(chunk, monkeypatch):
    """Catches a row whose softmax counts once instead of once for each of its tokens, and rows out of order."""
    monkeypatch.setattr(logits_module, "CHUNK", chunk)
    logits = torch.randn(3, 11, generator=seeded(), dtype=torch.float64)
    row = torch.tensor([2, 0, 2, 2, 0])
    choice = torch.tensor([4, 4, 10, 4, 0])  # twice the same token of the same row
    weight = torch.randn(5, generator=seeded(1), dtype=torch.float64)
    one = logits.clone().requires_grad_()
    two = logits.clone().requires_grad_()
    shared = token_logps(one, choice, row)
    apart = two.log_softmax(dim=-1)[row, choice]
    torch.testing.assert_close(shared, apart)
    gradients = [torch.autograd.grad((logps * weight).sum(), x) for logps, x in ((shared, one), (apart, two))]
    torch.testing.assert_close(*gradients)


def test_large_logits_lose_nothing():
    """Catches a logsumexp that is subtracted from a logit of the same size."""
    logits = torch.tensor([[10_000.0, 10_000.5, 9_999.0]])
    expected = (logits - 10_000).double().log_softmax(-1)[:, 0].float()
    torch.testing.assert_close(token_logps(logits, torch.tensor([0])), expected, rtol=0, atol=1e-6)


def test_the_gradient_has_the_logits_shape_and_choice_its_own():
    """(2, 3, 4) logits and (2, 3) choices, not contiguous: catches a view that mixes rows."""
    logits = torch.randn(3, 2, 4, generator=seeded()).transpose(0, 1).requires_grad_()
    choice = torch.tensor([[0, 3, 1], [2, 2, 0]])
    logps = token_logps(logits, choice)
    torch.testing.assert_close(logps, torch.distributions.Categorical(logits=logits).log_prob(choice))
    assert logps.shape == (2, 3) and entropy_of(logits).shape == (2, 3)


def test_entropy_against_the_textbook():
    logits = torch.randn(5, 7, generator=seeded(2))
    torch.testing.assert_close(entropy_of(logits), torch.distributions.Categorical(logits=logits).entropy())
