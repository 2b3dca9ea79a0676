"""Any causal model comes out right, or is refused in a sentence: a tiny model of each family, with and without LoRA."""

from itertools import product

import pytest
import torch
from peft import PrefixTuningConfig, PromptTuningConfig, get_peft_model

from shared.guard import UntrustedModel, verify
from shared.logps import completion_logps
from tests.conftest import few_of
from tests.families import NO_CACHE, RIGHT, WRONG_WHEN_PADDED, build, draw, plain_logps

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
# One of each kind: learned positions, an offset in them, ALiBi, rotary, windows, experts, latent attention,
# convolutions, the delta rule, a state space, and both of these with attention.
KINDS = [
    "GPT-2",
    "OPT",
    "Bloom",
    "Qwen2",
    "Gemma 3",
    "Mixtral",
    "DeepSeek-V3",
    "LFM2",
    "Qwen3-Next",
    "Mamba",
    "Falcon-H1",
]
# Adapters: on a transposed layer, on plain ones, beside experts, on a state space.
WITH_LORA = ["GPT-2", "Qwen2", "Mixtral", "Falcon-H1"]
FEW = [*product(KINDS, ["full"]), *product(WITH_LORA, ["lora"])]
with_and_without_lora = pytest.mark.parametrize("lora", [False, True], ids=["full", "lora"])


def gradients_of(logps: torch.Tensor, model: torch.nn.Module) -> list[torch.Tensor]:
    """Of a sum of the tokens with random weights, so that errors cannot cancel; parameters without use are left out."""
    weights = torch.randn(logps.shape, generator=torch.Generator().manual_seed(3))
    trained = [p for p in model.parameters() if p.requires_grad]
    return [g for g in torch.autograd.grad((logps * weights).sum(), trained, allow_unused=True) if g is not None]


@pytest.mark.parametrize("case", few_of(product(RIGHT, ["full", "lora"]), FEW), ids=lambda case: "-".join(case))
def test_sampling_and_scoring_are_those_of_the_model_on_one_row_at_a_time(case):
    """Catches padding that is seen, positions that are shifted by it, a cache that forgets a row's state or mixes rows
    when some end, windows counted with the padding, and adapters that one of the passes leaves out."""
    name, trained = case
    model = build(RIGHT[name], lora=trained == "lora")
    rollout = draw(model)
    logps, _ = completion_logps(model, rollout)
    expected = plain_logps(model, rollout)
    torch.testing.assert_close(rollout.old_logps, expected.detach(), rtol=0, atol=1.5e-5)
    torch.testing.assert_close(logps, expected, rtol=0, atol=1.5e-5)

    ours, theirs = gradients_of(logps, model), gradients_of(expected, model)
    scale = max(g.norm() for g in theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert (our - their).norm() <= 1e-4 * their.norm() + 1e-6 * scale


@with_and_without_lora
@pytest.mark.parametrize("name", few_of(NO_CACHE, ["GPT"]))
def test_a_model_that_takes_no_cache_is_refused_when_it_is_sampled(name, lora):
    """Catches a model whose every token is drawn without the prompt, and one that stops somewhere in its own code."""
    model = build(NO_CACHE[name], lora)
    with pytest.raises(ValueError, match="cannot be sampled here.*DynamicCache"):
        draw(model)


@pytest.mark.parametrize("adapter", [PromptTuningConfig, PrefixTuningConfig])
def test_adapters_that_put_tokens_before_the_prompt_are_refused(adapter):
    """Catches an IndexError from the depth of a mask that is three tokens too short."""
    model = get_peft_model(build(RIGHT["Qwen2"]), adapter(task_type="CAUSAL_LM", num_virtual_tokens=3))
    with pytest.raises(ValueError, match="before the prompt.*LoRA"):
        draw(model)


@pytest.mark.parametrize("name", WRONG_WHEN_PADDED)
def test_a_model_that_is_wrong_in_a_padded_batch_is_refused_with_figures(name):
    model = build(WRONG_WHEN_PADDED[name])
    with pytest.raises(UntrustedModel) as refused:
        verify(model, draw(model))
    sentence = str(refused.value)
    assert type(model).__name__ in sentence and "nats a token on average" in sentence
