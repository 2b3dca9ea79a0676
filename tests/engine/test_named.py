"""Models with a name of the course's own."""

import re
import tomllib
from pathlib import Path

import pytest

from checker.editions.course import NEEDED
from shared.engine import hub, named
from shared.engine.named import EMBEDDED, NAMED, Named
from shared.models import Origin, load_policy
from shared.saving import save_policy
from tests.fakes import letter_tokenizer, tiny_llama

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """A tiny model in the place of one that was fetched, under the name "real"."""
    monkeypatch.setitem(NAMED, "real", Named(tmp_path / "models" / "real", "apache-2.0", "someone/original"))
    tiny_llama().save_pretrained(tmp_path / "models" / "real")
    letter_tokenizer().save_pretrained(tmp_path / "models" / "real")


def test_the_name_goes_before_a_folder_and_the_hub(fetched, tmp_path, monkeypatch):
    """Catches somebody's folder of that name, or a stranger's model on the hub, taken for the course's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    monkeypatch.setattr(hub, "HfApi", None)
    model, _ = load_policy("real", device="cpu")
    assert model.loaded_from == Origin("real")
    assert hub.find(str(tmp_path / "models" / "real")).name == "real"
    with pytest.raises(ValueError, match="no config.json"):
        load_policy("./real", device="cpu")
    with pytest.raises(ValueError, match="has no revision 'main'"):
        load_policy("real@main", device="cpu")


def test_a_model_that_was_not_fetched_is_told_with_the_command(fetched, monkeypatch, tmp_path):
    """Catches a search of the hub for a name that is the course's, and a sentence with a command that there is not."""
    monkeypatch.setitem(NAMED, "smollm2", Named(tmp_path / "nowhere", "apache-2.0", "someone/original"))
    with pytest.raises(ValueError) as refused:
        load_policy("smollm2", device="cpu")
    assert re.search(
        "make smollm2 .*python -m checker setup --model smollm2.*A box that grades has", str(refused.value)
    )
    assert re.search(r"^smollm2:.*\n\t@.* setup --model smollm2$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("lora", [False, True])
def test_a_saved_policy_carries_the_name_and_the_original(fetched, lora, tmp_path):
    """Catches a path of this machine in what is handed on, and adapters that nobody else can load."""
    model, tokenizer = load_policy("real", device="cpu", lora=lora)
    folder = save_policy(model, tokenizer, tmp_path / "mine", task="dots")
    texts = {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.suffix in (".json", ".md")}
    assert not [name for name, text in texts.items() if str(tmp_path) in text]
    assert "license: apache-2.0" in texts["README.md"] and "base_model: someone/original" in texts["README.md"]
    assert '"name": "real"' in texts["policy.json"]
    if lora:
        again, _ = load_policy(folder, device="cpu")
        assert again.get_base_model().loaded_from == Origin("real")


def test_what_is_fetched_stays_where_it_was_fetched():
    """Catches hundreds of megabytes in a commit, a release, a box or Gradescope's bundle."""
    elsewhere = [model.folder for name, model in NAMED.items() if name != EMBEDDED]
    assert elsewhere and all(folder.parent == named.MODELS for folder in elsewhere)
    assert not [name for name in NEEDED for folder in elsewhere if folder.is_relative_to(ROOT / name)]
    lines = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"/models/*", "!/models/course-lm/"} <= set(lines)


def test_the_table_of_models_pins_each():
    """Catches an entry without its hash: whatever the package holds tomorrow would be converted."""
    for entry in tomllib.loads(named.TABLE.read_text("utf-8")).values():
        assert re.fullmatch("[0-9a-f]{64}", entry["sha256"]) and re.fullmatch(r"[\d.]+", entry["version"])
