"""A folder with a GGUF file is loaded as any other; what would be read wrongly is refused."""

import shutil

import pytest
import torch

from shared.models import load_policy
from shared.run.convert import convert
from tests.gguf_file import write_gguf


@pytest.fixture
def packed(tmp_path):
    folder = tmp_path / "packed"
    folder.mkdir()
    return folder, write_gguf(folder / "tiny.gguf")


def test_a_gguf_file_becomes_floats_that_can_be_trained(packed):
    """Catches weights that stay packed, and a model that its loader still takes for packed."""
    folder, unpacked = packed
    model, _ = load_policy(folder, device="cpu")
    layer = model.model.layers[0]
    for parameter, name in [(layer.self_attn.v_proj, "blk.0.attn_v"), (layer.mlp.down_proj, "blk.0.ffn_down")]:
        torch.testing.assert_close(parameter.weight.detach(), torch.from_numpy(unpacked[name]), rtol=0, atol=0)
    ids = torch.tensor([[5, 6, 7]])
    model(input_ids=ids, labels=ids).loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    assert not hasattr(model.config, "quantization_config")


def test_a_text_is_cut_into_words_as_the_file_says(packed, tmp_path):
    """Catches GPT-2's way for SmolLM2's: two line ends before a digit are then two tokens, and not the one it knows."""
    folder, _ = packed
    _, tokenizer = load_policy(folder, device="cpu")
    assert tokenizer.tokenize("x\n\n3") == ["x", "ĊĊ", "3"]
    assert tokenizer.decode(tokenizer("x\n\n3 4").input_ids) == "x\n\n3 4"
    write_gguf(folder / "tiny.gguf", split="of-its-own")
    with pytest.raises(ValueError, match="'of-its-own', which is not known here. Put the tokenizer.json"):
        load_policy(folder, device="cpu")
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    shutil.copy(tmp_path / "tokenizer" / "tokenizer.json", folder)
    assert load_policy(folder, device="cpu")[1].tokenize("x\n\n3") == ["x", "ĊĊ", "3"]


def test_a_gguf_file_that_cannot_be_read_rightly_is_refused(packed):
    """Catches an error of the loader's in place of a sentence."""
    folder, _ = packed
    with pytest.raises(ValueError, match="tiny.gguf is packed in its own way .* load it without load_in_4bit"):
        load_policy(folder, device="cpu", lora=True, load_in_4bit=True)
    shutil.copy(folder / "tiny.gguf", folder / "other.gguf")
    with pytest.raises(ValueError, match="holds 2 GGUF files"):
        load_policy(folder, device="cpu")
    (folder / "other.gguf").unlink()
    write_gguf(folder / "tiny.gguf", kind="clip")
    with pytest.raises(ValueError, match="the kind 'clip', which transformers .* It knows bloom, .*llama, .*qwen3"):
        load_policy(folder, device="cpu")
    (folder / "tiny.gguf").write_bytes(b"GGUF, cut short")
    with pytest.raises(ValueError, match="tiny.gguf is not a whole GGUF file"):
        load_policy(folder, device="cpu")


def test_a_converted_model_is_the_packed_one_to_the_rounding_of_its_type(packed, tmp_path):
    """Catches a tokenizer without its way of cutting, weights of another layer, and a file for its owner alone."""
    folder, _ = packed
    convert(folder, tmp_path / "floats")
    (before, _), (after, tokenizer) = (load_policy(place, device="cpu") for place in (folder, tmp_path / "floats"))
    for name, weights in before.state_dict().items():
        torch.testing.assert_close(after.state_dict()[name], weights, rtol=2**-8, atol=0)
    assert tokenizer.tokenize("x\n\n3") == ["x", "ĊĊ", "3"]
    modes = {path.name: path.stat().st_mode for path in (tmp_path / "floats").iterdir()}
    assert modes["model.safetensors"] == modes["config.json"] and "README.md" not in modes
