"""The tiny model of the exercises computes what transformers' GPT-2 does, which it stands in for."""

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from shared.exercises.stand_ins import tiny_model
from shared.exercises.stand_ins.tiny_model import HEADS, LAYERS, LONGEST, WIDTH, TinyModel

VOCABULARY = 12
NAMES = {
    "tokens": "transformer.wte",
    "positions": "transformer.wpe",
    "norm": "transformer.ln_f",
    "norm_before_attention": "ln_1",
    "attention": "attn.c_attn",
    "attended": "attn.c_proj",
    "norm_before_wide": "ln_2",
    "wide": "mlp.c_fc",
    "narrow": "mlp.c_proj",
}
IDS = torch.tensor([[1, 1, 5, 6, 7, 2], [3, 4, 5, 6, 2, 1]])
MASK = torch.tensor([[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0]])


def name_there(name):
    """GPT-2's name of a parameter, "layers.0.wide.bias" as "transformer.h.0.mlp.c_fc.bias"."""
    *folder, part, kind = name.split(".")
    inside = f"transformer.h.{folder[1]}." if folder else ""
    return f"{inside}{NAMES[part]}.{kind}"


@pytest.fixture(scope="module")
def both():
    """The tiny model, and GPT-2 with its weights."""
    torch.manual_seed(0)
    ours = TinyModel(VOCABULARY).eval()
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=LONGEST, n_embd=WIDTH, n_layer=LAYERS, n_head=HEADS)
    theirs = GPT2LMHeadModel(config).eval()
    linear = {f"{name}.weight" for name, part in ours.named_modules() if isinstance(part, torch.nn.Linear)}
    for name, weights in ours.named_parameters():
        target = theirs.get_parameter(name_there(name))
        target.data.copy_(weights.data.T if name in linear else weights.data)  # GPT-2 keeps them the other way round
    assert len(list(ours.parameters())) == len(list(theirs.parameters()))
    return ours, theirs


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"attention_mask": MASK},
        {"attention_mask": MASK, "position_ids": (MASK.cumsum(dim=1) - 1).clamp(min=0)},
        {"position_ids": torch.arange(1, 7).expand(2, -1), "use_cache": False},
        {"logits_to_keep": 4, "return_dict": True},
    ],
    ids=["ids alone", "a mask", "mask and positions", "positions", "the last alone"],
)
def test_the_logits_are_those_of_gpt2_with_the_same_weights(both, asked):
    """Catches a stand-in for which a slip with masks or positions is none, or a right function wrong."""
    ours, theirs = (model(input_ids=IDS, **asked) for model in both)
    real = asked.get("attention_mask", torch.ones_like(IDS)).bool()
    real = real[:, -asked.get("logits_to_keep", 0) :]
    assert torch.allclose(ours.logits[real], theirs.logits[real], atol=1e-4)
    assert torch.isfinite(ours.logits).all() and ours[0] is ours.logits


def test_everything_is_computed_where_the_model_is():
    """Catches a tensor on the CPU beside a model on an accelerator; torch's device without numbers stands for one."""
    model = TinyModel(VOCABULARY).to("meta")
    assert model(input_ids=IDS.to("meta"), attention_mask=MASK.to("meta")).logits.device == model.device
    assert model(input_ids=IDS.to("meta")).logits.shape == (*IDS.shape, VOCABULARY) and model.device.type == "meta"


def test_no_module_of_transformers_is_needed():
    """Catches an import for which every box with the model takes two seconds more."""
    import subprocess
    import sys

    program = f"import sys, {tiny_model.__name__}; sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
