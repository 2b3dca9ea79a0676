"""Weights of few bits: on their levels while it lasts, the very weights afterwards."""

import pytest
import torch

from shared.engine.rounded import BITS, BLOCK, rounded, rounded_weights
from tests.fakes import tiny_gpt2, tiny_llama


def test_a_hand_worked_block_of_two_bits():
    """Catches levels that are symmetric around 0, one level too few, and a range of the whole matrix."""
    weight = torch.tensor([[-0.3, 0.6, 0.2, 0.1, -0.2], [10.0, 40.0, 21.0, 10.0, 40.0]])
    expected = torch.tensor([[-0.3, 0.6, 0.3, 0.0, -0.3], [10.0, 40.0, 20.0, 10.0, 40.0]])
    torch.testing.assert_close(rounded(weight, 2), expected)


@pytest.mark.parametrize("bits", range(2, 9))
def test_each_block_has_its_levels_and_its_ends(bits):
    """Catches blocks that share a range: the second half of a row is a hundred times as large."""
    weight = torch.rand(3, 2 * BLOCK, generator=torch.Generator().manual_seed(0)) - 0.5
    weight[:, BLOCK:] *= 100
    blocks = rounded(weight, bits).view(3, 2, BLOCK)
    for block, before in zip(blocks.flatten(0, 1), weight.view(3, 2, BLOCK).flatten(0, 1)):
        assert len(block.unique()) <= 2**bits
        step = (before.max() - before.min()) / (2**bits - 1)
        assert (block - before).abs().max() <= step / 2 * 1.001
        torch.testing.assert_close(block.aminmax(), before.aminmax())


def test_sixteen_bits_are_bfloat16_and_equal_numbers_stay():
    weight = torch.tensor([[1.0, 1.001], [0.7, 0.7]])
    assert torch.equal(rounded(weight, 16), weight.bfloat16().float())
    torch.testing.assert_close(rounded(weight, 2)[1], weight[1])  # a range of 0 is no nan


@pytest.mark.parametrize("bits", [0, 1, 9, 32])
def test_other_numbers_of_bits_are_refused(bits):
    assert bits not in BITS
    with pytest.raises(ValueError, match=f"cannot be rounded to {bits} bits; choose 2 to 8"):
        rounded(torch.ones(1, 1), bits)


@pytest.mark.parametrize("failing", [False, True])
def test_the_weights_are_put_back_and_not_computed_back(failing):
    """Catches a step of training on rounded weights, after an error too; the embeddings are not touched."""
    model = tiny_llama()
    before = dict(model.named_parameters())
    values = {name: p.detach().clone() for name, p in before.items()}
    with pytest.raises(RuntimeError) if failing else rounded_weights(model, 0):
        with rounded_weights(model, 2):
            changed = {name for name, p in model.named_parameters() if not torch.equal(p, values[name])}
            if failing:
                raise RuntimeError
    assert changed == {name for name in before if "_proj" in name or "lm_head" in name}
    after = dict(model.named_parameters())
    assert all(after[name] is p and torch.equal(p, values[name]) for name, p in before.items())


def test_a_model_without_matrices_is_refused():
    """Catches a sampler that is said to have few bits and is the policy."""
    with pytest.raises(ValueError, match="no linear layer whose weights could be rounded"):
        with rounded_weights(torch.nn.Embedding(2, 2), 4):
            pass


@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2])
def test_fewer_bits_are_further_from_the_model(make):
    """Catches bits that are not handed on; GPT-2 has layers of a kind of its own."""
    model, ids = make().eval(), torch.tensor([[2, 3, 4]])
    with torch.no_grad():
        exact, gaps = model(ids).logits, []
        for bits in (0, 16, 8, 4, 2):
            with rounded_weights(model, bits):
                gaps.append((model(ids).logits - exact).abs().mean().item())
    assert gaps[0] == 0 < gaps[1] < gaps[2] < gaps[3] < gaps[4]
