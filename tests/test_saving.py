import io
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import yaml
from peft import get_peft_model, get_peft_model_state_dict
from safetensors.torch import load_file
from transformers import LlamaForCausalLM

from shared.models import COURSE_MODEL, Origin, add_lora, load_policy, lora_config
from shared.reference import reference_model, starting_policy
from shared.saving import RECORD, base_of, refuse_to_overwrite, save_policy
from tests.fakes import letter_tokenizer, tiny_llama

IDS = torch.tensor([[2, 3, 4]])


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "base"
    tiny_llama().save_pretrained(folder)
    letter_tokenizer().save_pretrained(folder)
    return folder


@dataclass(frozen=True)
class Settings:
    steps: int = 3
    learning_rate: float = 1e-4


def header_of(folder) -> dict:
    """The card's metadata, read as the hub reads it: YAML between two lines of three dashes at the very beginning."""
    before, header, _ = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    assert before == ""
    return yaml.safe_load(header)


def test_a_tuned_model_comes_back_as_it_was(base, tmp_path):
    model, tokenizer = load_policy(base, device="cpu")
    with torch.no_grad():
        model.lm_head.weight.mul_(1.5)
    folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    again, tokenizer_again = load_policy(folder, device="cpu")
    assert torch.equal(again(IDS).logits, model(IDS).logits)
    assert not torch.equal(again(IDS).logits, tiny_llama()(IDS).logits)
    assert tokenizer_again("abc")["input_ids"] == tokenizer("abc")["input_ids"]


def test_adapters_come_back_on_their_base(base, tmp_path):
    """Catches adapters that are merged, lost, or loaded frozen, and a reference without what they have learned."""
    model, tokenizer = load_policy(base, device="cpu", lora={"init_lora_weights": False})
    folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    assert not (folder / "model.safetensors").exists()
    again, _ = load_policy(folder, device="cpu", lora=True)
    assert torch.equal(again(IDS).logits, model(IDS).logits)
    trained = [name for name, p in again.named_parameters() if p.requires_grad]
    assert trained and all("lora_" in name for name in trained)
    with reference_model(again, starting_policy(again)) as reference:
        assert torch.equal(reference(IDS).logits, model(IDS).logits)
    with pytest.raises(ValueError, match="adapters already"):
        load_policy(folder, device="cpu", lora={"r": 2})


def test_tokens_that_were_added_are_kept_with_the_adapters(base, tmp_path):
    """Catches rows of the embedding that are lost in silence: the new tokens' would be other random ones, or none."""
    model, tokenizer = load_policy(base, device="cpu")
    tokenizer.add_tokens(["<think>", "</think>"])
    model.resize_token_embeddings(len(tokenizer))
    model = add_lora(model, init_lora_weights=False).eval()
    for name in ("once", "twice"):
        folder = save_policy(model, tokenizer, tmp_path / name, task="dots")
        again, tokenizer = load_policy(folder, device="cpu")
        ids = torch.tensor([tokenizer("a<think>b</think>")["input_ids"]])
        assert ids.max() == 13 and torch.equal(again(ids).logits, model(ids).logits)
        model = again
    plain, _ = load_policy(base, device="cpu", lora=True)
    folder = save_policy(plain, tokenizer, tmp_path / "nothing was added", task="dots")
    assert not any("embed" in name for name in load_file(folder / "adapter_model.safetensors"))


def test_adapters_in_4_bits_come_back(base, tmp_path):
    pytest.importorskip("bitsandbytes")
    model, tokenizer = load_policy(base, device="cpu", lora={"init_lora_weights": False}, load_in_4bit=True)
    folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    again, _ = load_policy(folder, device="cpu", load_in_4bit=True)
    torch.testing.assert_close(again(IDS).logits, model(IDS).logits)


def test_the_embedded_model_is_found_in_any_copy_of_the_repository(tmp_path):
    """Catches adapters that name their base by its place on the machine that made them."""
    model, tokenizer = load_policy(COURSE_MODEL, device="cpu", lora={"init_lora_weights": False})
    folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    assert str(COURSE_MODEL) not in "".join(
        path.read_text() for path in folder.glob("*.json") if path.name != "tokenizer.json"
    )
    assert torch.equal(load_policy(folder, device="cpu")[0](IDS).logits, model(IDS).logits)


def test_the_base_and_its_commit_are_kept_with_adapters_and_card(tmp_path):
    """Catches a result of which nobody can say what it was tuned from: a name on the hub stays, its weights change."""
    model = tiny_llama()
    model.loaded_from = Origin("someone/tiny", "0123abc")
    model = add_lora(model)
    assert base_of(model) == Origin("someone/tiny", "0123abc")
    folder = save_policy(model, letter_tokenizer(), tmp_path / "tuned", task="dots")
    settings = json.loads((folder / "adapter_config.json").read_text())
    assert settings["base_model_name_or_path"] == "someone/tiny" and settings["revision"] == "0123abc"
    header = header_of(folder)
    assert header["base_model"] == "someone/tiny" and header["base_model_relation"] == "adapter"
    assert header["library_name"] == "peft" and header["license_link"] == "https://huggingface.co/someone/tiny"
    assert "`someone/tiny` at revision `0123abc`" in (folder / "README.md").read_text()


def test_the_card_says_what_was_measured_and_how_it_was_trained(base, tmp_path):
    model, tokenizer = load_policy(base, device="cpu")
    measured = {"baseline": 0.25, "fine-tuned": 0.98765}
    folder = save_policy(
        model, tokenizer, tmp_path / "tuned", task="dots", measured=measured, settings=Settings(), license="apache-2.0"
    )
    card = (folder / "README.md").read_text()
    assert "| fine-tuned | 0.9877 |" in card and "| learning_rate | 0.0001 |" in card and "task: dots" in card
    assert header_of(folder)["license"] == "apache-2.0" and header_of(folder)["library_name"] == "transformers"
    assert "base_model" not in header_of(folder) and str(tmp_path) not in card  # a folder is no name on the hub
    record = json.loads((folder / RECORD).read_text())
    assert record["measured"] == measured and record["settings"]["steps"] == 3


def test_the_embedded_models_own_licence_goes_on(tmp_path):
    model, tokenizer = load_policy(COURSE_MODEL, device="cpu")
    assert header_of(save_policy(model, tokenizer, tmp_path / "tuned", task="dots"))["license"] == "mit"


def test_a_saved_policy_is_replaced_as_a_whole(base, tmp_path):
    """Catches adapters that stay behind beside the weights of the next model."""
    model, tokenizer = load_policy(base, device="cpu", lora=True)
    save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    plain, _ = load_policy(base, device="cpu")
    folder = save_policy(plain, tokenizer, tmp_path / "tuned", task="dots")
    assert not (folder / "adapter_config.json").exists() and (folder / "model.safetensors").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base", "tuned"]


@pytest.mark.parametrize("strange", ["thesis.txt", "beside"])
def test_what_was_not_saved_by_it_is_not_overwritten(base, tmp_path, strange):
    """Catches a student's own files lost to a mistyped folder, and to notes kept beside the model."""
    model, tokenizer = load_policy(base, device="cpu")
    folder = tmp_path / "mine"
    if strange == "beside":
        save_policy(model, tokenizer, folder, task="dots")
    folder.mkdir(exist_ok=True)
    (folder / strange).write_text("the only copy")
    with pytest.raises(ValueError, match="mine"):
        save_policy(model, tokenizer, folder, task="dots")
    assert (folder / strange).read_text() == "the only copy"


def test_a_save_that_fails_leaves_the_older_policy(base, tmp_path):
    """Catches a folder that is emptied before the new weights are on the disk."""
    model, tokenizer = load_policy(base, device="cpu")
    folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")

    class FullDisk:
        def save_pretrained(self, folder):
            raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        save_policy(model, FullDisk(), folder, task="dots")
    assert torch.equal(load_policy(folder, device="cpu")[0](IDS).logits, model(IDS).logits)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base", "tuned"]


def test_an_older_policy_comes_back_when_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    """Catches an older policy that is moved out of the way and left under a name that nobody looks for."""
    folder = save_policy(tiny_llama(), letter_tokenizer(), tmp_path / "tuned", task="older")
    rename = Path.rename

    def refuse_the_new(self, target):
        if self.suffix == ".partial":
            raise OSError("Access is denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse_the_new)
    with pytest.raises(OSError, match="Access is denied"):
        save_policy(tiny_llama(), letter_tokenizer(), folder, task="newer")
    assert json.loads((folder / "policy.json").read_text())["task"] == "older"
    assert [path.name for path in tmp_path.iterdir()] == ["tuned"]


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    """Catches a refusal that does not say which path it is about."""
    file = tmp_path / "thesis.txt"
    file.write_text("the only copy")
    with pytest.raises(ValueError, match="thesis.txt' is a file; give a folder"):
        refuse_to_overwrite(file)


def test_the_folders_above_are_made(tmp_path):
    """Catches a training that is lost at its end because build/ was not there yet."""
    folder = save_policy(tiny_llama(), letter_tokenizer(), tmp_path / "build" / "course" / "tuned", task="dots")
    assert (folder / "model.safetensors").exists()


def test_the_record_is_for_programs_and_for_readers(tmp_path):
    """Catches a record under another name, all in one line, and a save that fails for a setting that is no JSON."""
    settings = {"steps": 3, "log": Path("build/log.csv"), "dtype": torch.bfloat16}
    folder = save_policy(tiny_llama(), letter_tokenizer(), tmp_path / "tuned", task="dots", settings=settings)
    text = (folder / "policy.json").read_text()
    record = json.loads(text)
    assert text == json.dumps(record, indent=2) + "\n"
    assert record == {
        "task": "dots",
        "base": {"name": "", "revision": None},
        "adapters": False,
        "license": None,
        "measured": {},
        "settings": {"steps": 3, "log": "build/log.csv", "dtype": "torch.bfloat16"},
        "files": sorted(path.name for path in folder.iterdir()),
    }


def test_a_name_with_an_umlaut_is_right_on_a_machine_that_does_not_write_utf8(tmp_path, monkeypatch):
    """Catches a card that Windows writes in its own encoding and that the hub cannot read."""
    monkeypatch.setattr(io, "text_encoding", lambda encoding, stacklevel=2: encoding or "cp1252")
    folder = save_policy(tiny_llama(), letter_tokenizer(), tmp_path / "größer", task="dots")
    card = (folder / "README.md").read_bytes().decode("utf-8")
    assert "\n# größer\n" in card and 'load_policy("größer")' in card


def test_weights_that_the_model_does_not_hold_reach_the_file(tmp_path):
    """Catches the part that one process holds (FSDP, DeepSpeed) saved in place of the whole that was given."""
    whole = tiny_llama(seed=1)
    weights = whole.state_dict()
    folder = save_policy(tiny_llama(), letter_tokenizer(), tmp_path / "tuned", task="dots", weights=weights)
    kept = load_file(folder / "model.safetensors")
    assert kept and all(torch.equal(kept[name], whole.state_dict()[name]) for name in kept)


def test_weights_given_for_adapters_reach_the_file_and_nothing_else_does(tmp_path):
    """Catches the same with adapters, and megabytes of embeddings that were not trained saved beside them."""
    weights = add_lora(tiny_llama(), init_lora_weights=False).state_dict()
    model = add_lora(tiny_llama())
    expected = get_peft_model_state_dict(model, state_dict=weights, save_embedding_layers=False)
    folder = save_policy(model, letter_tokenizer(), tmp_path / "tuned", task="dots", weights=weights)
    kept = load_file(folder / "adapter_model.safetensors")
    assert kept.keys() == expected.keys() and all("lora_" in name for name in kept)
    assert all(torch.equal(kept[name], expected[name]) for name in kept)


def test_adapters_that_others_made_name_their_base_too(tmp_path):
    """Catches adapters from another trainer that are put on tomorrow's weights: it left the revision out."""
    model = get_peft_model(tiny_llama(), lora_config())
    model.loaded_from = Origin("someone/tiny", "0123abc")
    folder = save_policy(model, letter_tokenizer(), tmp_path / "tuned", task="dots")
    text = (folder / "adapter_config.json").read_text()
    settings = json.loads(text)
    assert text == json.dumps(settings, indent=2) + "\n"
    assert settings["base_model_name_or_path"] == "someone/tiny" and settings["revision"] == "0123abc"


def test_the_base_of_a_model_that_others_loaded(base):
    """Catches a record without the base, or no record at all, for a model that `load_policy` did not load."""
    assert base_of(LlamaForCausalLM.from_pretrained(base)) == Origin(str(base))
    assert base_of(tiny_llama()) == Origin("")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640)])
def test_the_umask_decides_who_may_read_the_weights(base, tmp_path, umask, mode):
    """Catches weights of mode 0600 beside a card of 0644: a colleague sees the folder and cannot load it."""
    model, tokenizer = load_policy(base, device="cpu")
    before = os.umask(umask)
    try:
        folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    finally:
        os.umask(before)
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        path.name: mode for path in folder.iterdir()
    }


def test_a_second_save_says_that_it_replaces(base, tmp_path, capsys):
    model, tokenizer = load_policy(base, device="cpu")
    save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    assert "replaced" not in capsys.readouterr().out
    folder = save_policy(model, tokenizer, tmp_path / "tuned", task="dots")
    assert f"The policy that was saved in {folder} is replaced." in capsys.readouterr().out


def test_a_place_that_cannot_be_written_is_told_as_the_caller_named_it(base, tmp_path):
    """Catches the name of a file of ours, `.policy.123.partial`, in an error about a folder that is closed."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file/policy cannot be written .* Choose a path"):
        save_policy(*load_policy(base), tmp_path / "file" / "policy", task="t")
