"""Adapters merged for sampling: the same logits, and the very weights afterwards."""

import pytest
import torch

from shared.engine import merged
from shared.engine.merged import merged_adapters
from shared.engine.sampling import Sampling
from shared.models import add_lora
from shared.rollout import sample
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama

IDS = torch.tensor([[2, 3, 4, 5]])


def adapted(base=None, **options):
    """A model whose adapters say something: as they are made, they add nothing."""
    model = add_lora(base or tiny_llama(), r=4, **options).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(0.3 * torch.randn_like(parameter))
    return model


def state(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def layers_of(model):
    return [layer for layer in model.modules() if hasattr(layer, "merged_adapters")]


@torch.no_grad()
def test_logits_are_those_of_the_adapters_beside():
    """Catches an adapter that counts twice, one that is left out, and a scale that is forgotten."""
    model = adapted()
    beside = model(IDS).logits
    with model.disable_adapter():
        assert not torch.allclose(model(IDS).logits, beside, atol=1e-2)
    with merged_adapters(model):
        assert all(layer.merged for layer in layers_of(model))
        torch.testing.assert_close(model(IDS).logits, beside, rtol=0, atol=1e-5)


def test_afterwards_every_weight_is_the_same_object_with_the_same_numbers():
    """Catches a difference that is subtracted again: rounding would move frozen weights a little at every step."""
    model = adapted()
    before, places = state(model), [parameter.data_ptr() for parameter in model.parameters()]
    with pytest.raises(KeyboardInterrupt), merged_adapters(model):
        raise KeyboardInterrupt
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert places == [parameter.data_ptr() for parameter in model.parameters()]
    assert not any(layer.merged for layer in layers_of(model))


CANNOT = {
    "dropout": lambda: adapted(lora_dropout=0.1),
    "DoRA": lambda: adapted(use_dora=True),
    "16 bits": lambda: adapted(tiny_llama().bfloat16()),
    "another matrix": lambda: adapted(tiny_gpt2(), fan_in_fan_out=True),
    "no adapters": tiny_llama,
}


@pytest.mark.parametrize("kind", CANNOT)
def test_what_cannot_be_merged_is_left_as_it_is(kind):
    model = CANNOT[kind]()
    before = state(model)
    with merged_adapters(model):
        assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
        assert not any(layer.merged for layer in layers_of(model))


def test_adapters_that_are_off_stay_off():
    """Catches a baseline that is sampled with what was trained."""
    model = adapted()
    with model.disable_adapter():
        before = model(IDS).logits
        with merged_adapters(model):
            assert torch.equal(model(IDS).logits, before)


def test_sampling_merges_and_draws_the_same(monkeypatch):
    model, tokenizer = adapted(), letter_tokenizer()
    draw = lambda: sample(model, tokenizer, ["abc", "d"], 4, Sampling(6), seed=0)  # noqa: E731
    rollout = draw()
    monkeypatch.setattr(merged, "can_be_merged", lambda layer: False)
    beside = draw()
    assert rollout.completions == beside.completions
    assert not torch.equal(rollout.old_logps, beside.old_logps), "rounding alone differs, so it was merged"
    torch.testing.assert_close(rollout.old_logps, beside.old_logps, rtol=0, atol=1e-5)
