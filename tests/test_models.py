import warnings

import pytest
import torch
from transformers import AutoModelForCausalLM
from transformers.utils import logging

from shared import models
from shared.engine import capacity, named
from shared.engine.modes import eval_mode
from shared.models import (
    Origin,
    best_device,
    frozen_copy,
    load_policy,
    model_name,
    name_and_revision,
    parameter_summary,
    train_upper_half,
)
from tests.fakes import letter_tokenizer, tiny_llama

IDS = torch.tensor([[2, 3, 4]])


@pytest.fixture
def saved(tmp_path):
    """A model folder in the Hugging Face format, with a space in its path and a tokenizer without a pad token."""
    folder = tmp_path / "my model"
    tiny_llama().save_pretrained(folder)
    tokenizer = letter_tokenizer()
    tokenizer.pad_token = None
    tokenizer.save_pretrained(folder)
    return folder


def test_one_setting_chooses_the_model(monkeypatch):
    monkeypatch.delenv("COURSE_MODEL", raising=False)
    assert model_name() == str(models.COURSE_MODEL)
    monkeypatch.setenv("COURSE_MODEL", "some/model")
    assert model_name() == "some/model" and model_name("another") == "another"


def test_loading_pads_on_the_left_and_makes_up_for_a_missing_pad_token(saved):
    model, tokenizer = load_policy(saved, device="cpu")
    assert tokenizer.padding_side == "left" and tokenizer.pad_token == tokenizer.eos_token
    assert not model.training and model.dtype == torch.float32
    torch.testing.assert_close(model(IDS).logits, tiny_llama()(IDS).logits)


def test_a_missing_model_is_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="COURSE_MODEL"):
        load_policy(tmp_path / "nothing here")


def test_the_device_is_the_cpu_unless_there_is_cuda(monkeypatch):
    """Catches Apple's GPU taken unasked: nothing here was ever tested on one."""
    monkeypatch.delenv("COURSE_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert best_device() == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert best_device() == torch.device("cuda")


def test_course_device_chooses_the_device(monkeypatch, saved):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setenv("COURSE_DEVICE", "mps")
    assert best_device() == torch.device("mps")
    monkeypatch.setenv("COURSE_DEVICE", "cpu")
    assert load_policy(saved)[0].device == torch.device("cpu")


@pytest.mark.parametrize(
    ("name", "words"), [("gpu", "choose cpu, cuda"), ("cuda:1", "PyTorch sees 1 with CUDA"), ("mps", "no Apple GPU")]
)
def test_a_device_that_is_not_there_is_a_sentence(monkeypatch, saved, name, words):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setenv("COURSE_DEVICE", name)
    with pytest.raises(ValueError, match=words):
        best_device()
    with pytest.raises(ValueError, match=words):
        load_policy(saved, device=name)


def test_a_dtype_may_be_given_by_its_name(saved):
    """Catches transformers' way to write it, and a type of whole numbers, in which nothing can be trained."""
    assert load_policy(saved, dtype="bfloat16", device="cpu")[0].dtype == torch.bfloat16
    for wrong in ("auto", "int8", torch.int8, 32):
        with pytest.raises(ValueError, match="no dtype .* choose float32"):
            load_policy(saved, dtype=wrong, device="cpu")


def test_the_embedded_model_is_loaded_without_a_word(monkeypatch, capfd):
    """Catches a check of room or of the hub that warns about, or asks the network for, what is in the repository."""
    monkeypatch.setattr("shared.engine.hub.HfApi", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, _ = load_policy(models.COURSE_MODEL, device="cpu")
    assert model.loaded_from == Origin(named.EMBEDDED)
    assert capfd.readouterr() == ("", "")


def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded(saved, monkeypatch):
    monkeypatch.setattr(capacity, "free_memory", lambda device: 1000)
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", lambda *arguments, **options: pytest.fail("loaded"))
    with pytest.raises(ValueError, match="smaller model"):
        load_policy(saved, device="cpu")


@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_4_bit_model_is_made_on_the_device_that_was_asked_for(saved, monkeypatch, device):
    """Catches 4-bit weights that land on the first GPU whatever is asked: they cannot be moved afterwards."""
    given = {}

    def keeps(name, **options):
        given.update(options)
        return tiny_llama()

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    monkeypatch.setattr(capacity, "free_memory", lambda device: 10**9)
    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", keeps)
    load_policy(saved, device=device, lora=True, load_in_4bit=True)
    assert given["device_map"] == {"": torch.device(device)}
    assert (
        given["quantization_config"].load_in_4bit
        and given["quantization_config"].bnb_4bit_compute_dtype == torch.bfloat16
    )


def test_two_revisions_at_once_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="'v1' and 'v2'"):
        load_policy("someone/tiny@v1", revision="v2")
    assert name_and_revision("someone/tiny@v1", "v1") == ("someone/tiny", "v1")


def test_four_bits_without_adapters_are_refused(saved):
    with pytest.raises(ValueError, match="lora=True"):
        load_policy(saved, load_in_4bit=True)


def test_lora_trains_only_the_adapters(saved):
    model, _ = load_policy(saved, device="cpu", lora={"r": 2})
    trained = [name for name, p in model.named_parameters() if p.requires_grad]
    assert trained and all("lora_" in name for name in trained)
    assert "trained" in parameter_summary(model)


@pytest.mark.parametrize("shown", [True, False])
def test_bars_are_as_they_were_after_a_model_was_loaded(saved, shown):
    """Catches bars that somebody had switched off, and that come back with the first model."""
    before = logging.is_progress_bar_enabled()
    try:
        (logging.enable_progress_bar if shown else logging.disable_progress_bar)()
        load_policy(saved, device="cpu")
        assert logging.is_progress_bar_enabled() is shown
    finally:
        (logging.enable_progress_bar if before else logging.disable_progress_bar)()


def test_a_frozen_copy_shares_no_memory_and_has_no_dropout():
    model = tiny_llama().train()
    copy = frozen_copy(model)
    assert not {p.data_ptr() for p in model.parameters()} & {p.data_ptr() for p in copy.parameters()}
    assert not any(p.requires_grad for p in copy.parameters())
    assert not copy.training and model.training


def test_eval_mode_is_undone_even_after_an_error():
    model = tiny_llama().train()
    with pytest.raises(RuntimeError):
        with eval_mode(model):
            assert not model.training
            raise RuntimeError
    assert model.training


def test_only_the_upper_half_of_the_blocks_is_trained(model):
    """Catches training tied embeddings along with the blocks."""
    trained = {name for name, p in train_upper_half(model).named_parameters() if p.requires_grad}
    assert trained and all(".1." in name for name in trained)
    assert len(trained) == sum(".1." in name for name, _ in model.named_parameters())


def test_a_4_bit_model_trains_its_adapters_on_the_cpu(saved):
    """Catches the inference kernel of bitsandbytes, chosen in evaluation mode on some CPUs, which has no backward pass."""
    pytest.importorskip("bitsandbytes")
    model, _ = load_policy(saved, device="cpu", lora=True, load_in_4bit=True)
    assert any(type(layer).__name__ == "Linear4bit" for layer in model.modules())
    in_floats, _ = load_policy(saved, device="cpu", lora=True)
    assert parameter_summary(model) == parameter_summary(in_floats)  # and not of the bytes, two weights in each
    with eval_mode(model):
        model(input_ids=IDS).logits.logsumexp(-1).sum().backward()
    gradients = {name: p.grad for name, p in model.named_parameters() if p.requires_grad}
    assert gradients and all("lora" in name for name in gradients)
    assert any(g is not None and g.abs().sum() > 0 for g in gradients.values())


def test_rows_that_end_within_a_block_keep_their_scales():
    """Catches the kernel of bitsandbytes for the CPU, which gives such rows, those of the embedded model, the scales of
    others. The nearest of NF4's sixteen levels is wrong by a tenth at most, as a share of all."""
    pytest.importorskip("bitsandbytes")
    whole, _ = load_policy(device="cpu", lora=True)
    packed, _ = load_policy(device="cpu", lora=True, load_in_4bit=True)
    x = torch.randn(3, 160, generator=torch.Generator().manual_seed(0))
    layers = {name: m.base_layer for name, m in whole.named_modules() if name.endswith(("q_proj", "up_proj"))}
    for name, layer in packed.named_modules():
        if name in layers:
            expected = layers[name](x)
            assert (layer.base_layer(x) - expected).norm() < 0.15 * expected.norm(), name
