"""Models that sample through their own cache: the demands on them, and the words about one that cannot; with stand-ins."""

from types import SimpleNamespace

import peft
import pytest
import torch
from torch import nn

from shared.engine.cached import CachedDecoder, cache_argument
from shared.models import add_lora
from tests.fakes import tiny_llama

IDS = torch.tensor([[0, 4, 5], [6, 7, 8]])
MASK = torch.tensor([[0, 1, 1], [1, 1, 1]])


class Takes(nn.Module):
    """Takes a cache by the usual name and hands it back; writes down what it is asked."""

    name = "past_key_values"

    def __init__(self):
        super().__init__()
        self.config = tiny_llama().config
        self.asked = []

    def forward(self, input_ids, attention_mask, past_key_values=None, **others):
        return self.answer(input_ids, attention_mask, past_key_values, others)

    def answer(self, ids, mask, cache, others):
        self.asked.append((tuple(ids.shape), mask.tolist(), others))
        return SimpleNamespace(logits=torch.zeros(*ids.shape, 12), **{self.name: self.handed_back(cache)})

    def handed_back(self, cache):
        return cache


class TakesParameters(Takes):
    """Of the Mamba family: another name, and a state that has no keys to mask."""

    name = "cache_params"

    def forward(self, input_ids, attention_mask, cache_params=None, **others):
        return self.answer(input_ids, attention_mask, cache_params, others)


class LeavesAside(Takes):
    def handed_back(self, cache):
        return None


class HandsNothingBack(Takes):
    name = "hidden_states"


class Stops(Takes):
    def answer(self, *arguments):
        raise TypeError("mems must be a list")


def decoder(model):
    return CachedDecoder(model, IDS, MASK, torch.tensor([0, 1]))


@pytest.mark.parametrize(
    "kind, why",
    [
        (LeavesAside, "the model leaves it aside, so it would forget the prompt after one token"),
        (HandsNothingBack, "the model leaves it aside, so it would forget the prompt after one token"),
        (Stops, "with it the model stops: mems must be a list"),
    ],
)
def test_a_model_without_such_a_cache_is_refused_by_name_and_cause(kind, why):
    """Catches tokens that are drawn without their context, and a sentence that does not say of which model."""
    with pytest.raises(ValueError) as refused:
        decoder(kind())
    assert str(refused.value) == (
        f"{kind.__name__} cannot be sampled here. Tokens are drawn one after another with transformers' DynamicCache, "
        f"and {why}. Choose another model."
    )


@pytest.mark.parametrize("kind", [Takes, TakesParameters])
def test_only_the_last_logits_are_asked_for(kind):
    """Catches logits of a whole prompt, which with a real vocabulary take more memory than the model."""
    model = kind()
    decoder(model).step([4, 5], [0, 1])
    assert cache_argument(model) == kind.name
    assert [shape for shape, _, _ in model.asked] == [(2, 3), (2, 1)]
    assert all(others["logits_to_keep"] == 1 and others["use_cache"] is True for _, _, others in model.asked)
    assert [others["position_ids"].tolist() for _, _, others in model.asked] == [[[0, 0, 1], [0, 1, 2]], [[2], [3]]]


def test_a_state_is_given_the_mask_of_the_new_tokens_alone():
    """Catches a mask of all tokens beside one token, at which a state-space model stops or drops what it has read."""
    masks = {}
    for kind in (Takes, TakesParameters):
        model = kind()
        decoder(model).step([4, 5], [0, 1])
        masks[kind] = [mask for _, mask, _ in model.asked]
    assert masks[Takes] == [MASK.tolist(), [[0, 1, 1, 1], [1, 1, 1, 1]]]
    assert masks[TakesParameters] == [MASK.tolist(), [[1], [1]]]


def test_adapters_that_lengthen_the_prompt_are_refused_and_lora_is_not():
    """Catches completions of a model whose trained prompt was left out."""
    virtual = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    with pytest.raises(ValueError, match="puts trained tokens before the prompt.*Train LoRA adapters instead"):
        decoder(peft.get_peft_model(tiny_llama(), virtual))
    assert decoder(add_lora(tiny_llama(), r=2)).logits.shape == (2, 12)
