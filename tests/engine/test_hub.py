"""The real client of the hub against a hub on this machine (`tests.fake_hub`), and the loader's errors raised by hand."""

import re
import shutil

import httpx
import pytest
import torch
from huggingface_hub import constants, errors
from transformers import AutoModelForCausalLM
from transformers.utils import hub as transformers_hub

from shared.engine import hub
from shared.engine.hub import NoModel, find, split_revision, why
from shared.models import Origin, load_policy
from shared.saving import save_policy
from tests.fake_hub import COMMIT, FakeHub, running
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama

IDS = torch.tensor([[2, 3, 4]])


def save(folder, model=None):
    (model or tiny_llama()).save_pretrained(folder)
    letter_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def saved(tmp_path):
    return save(tmp_path / "saved")


def use(address, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.hf_api.api.endpoint", address)
    monkeypatch.setattr(transformers_hub.hf_api(), "endpoint", address)


@pytest.fixture
def online(saved, tmp_path, monkeypatch):
    with running(FakeHub({"someone/tiny": saved, "someone/gated": saved}, gated={"someone/gated"})) as fake:
        use(fake.address, tmp_path, monkeypatch)
        yield fake


def no_network(monkeypatch):
    """Nothing listens on port 9, so a connection is refused at once."""
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")


def test_a_model_of_the_hub_is_loaded_at_the_commit_that_was_found(online):
    """Catches a model whose commit nobody knows afterwards, and a second call for what is already downloaded."""
    source = find("someone/tiny", "v1")
    assert (
        source.revision == COMMIT
        and source.download == (online.models["someone/tiny"] / "model.safetensors").stat().st_size
    )
    model, tokenizer = load_policy("someone/tiny@v1", device="cpu")
    assert model.loaded_from == Origin("someone/tiny", COMMIT)
    torch.testing.assert_close(model(IDS).logits, tiny_llama()(IDS).logits)
    assert find("someone/tiny").download == 0


def test_what_was_downloaded_is_loaded_without_a_network(online, monkeypatch):
    """Catches the loader that asks for each file again and again, half a minute for each."""
    load_policy("someone/tiny", device="cpu")
    no_network(monkeypatch)
    online.asked.clear()
    source = find("someone/tiny")
    assert source.cached_only and source.revision == COMMIT and source.parameters == parameters_of(tiny_llama())
    model, _ = load_policy("someone/tiny", device="cpu")
    assert model.loaded_from.revision == COMMIT and not online.asked


def parameters_of(model) -> int:
    return sum(p.numel() for p in model.parameters())


def test_adapters_of_the_hub_are_put_on_their_base(online, tmp_path, monkeypatch):
    """Catches a base at its newest commit under adapters that were trained on an older one."""
    model, tokenizer = load_policy("someone/tiny@v1", device="cpu", lora={"init_lora_weights": False})
    online.models["someone/adapters"] = save_policy(model, tokenizer, tmp_path / "adapters", task="dots")
    online.asked.clear()
    for _ in ("from the hub", "from the cache"):
        again, _ = load_policy("someone/adapters", device="cpu")
        assert again.loaded_from == Origin("someone/tiny", COMMIT)
        assert torch.equal(again(IDS).logits, model(IDS).logits)
        no_network(monkeypatch)
    newest = "/api/models/someone/tiny"
    assert newest not in [path.partition("?")[0] for path in online.asked]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("someone/gated", "gated.*hf auth login"),
        ("someone/nothing", "no model of that name.*spelling"),
        ("someone/tiny@v2", "no revision 'v2'"),
        ("/no/such folder", "There is no folder"),
        ("./someone/tiny/", "There is no folder"),
    ],
)
def test_the_hubs_refusals_are_told_apart(online, name, words):
    """Catches a gated model that is reported as missing: its error is a kind of "not found"."""
    with pytest.raises(NoModel, match=words):
        load_policy(name, device="cpu")


def test_without_a_network_a_model_that_was_never_downloaded_says_so(online, monkeypatch):
    no_network(monkeypatch)
    with pytest.raises(NoModel, match="could not be reached .*refused.*hf download someone/tiny"):
        load_policy("someone/tiny", device="cpu")


def test_in_offline_mode_the_variable_is_named(tmp_path, monkeypatch):
    use("http://127.0.0.1:9", tmp_path, monkeypatch)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(NoModel, match="HF_HUB_OFFLINE"):
        find("someone/tiny")


def test_a_hub_that_is_down_is_not_taken_for_a_missing_model(online):
    online.broken = True
    with pytest.raises(NoModel, match="503.*later"):
        find("someone/tiny")


def test_a_download_that_was_cut_short_is_not_taken_for_the_model(online, monkeypatch):
    """Only the configuration is in the cache: without a network that is no model."""
    from huggingface_hub import hf_hub_download

    hf_hub_download("someone/tiny", "config.json")
    no_network(monkeypatch)
    with pytest.raises(NoModel, match="not wholly"):
        find("someone/tiny")


def refusal(kind, status):
    request = httpx.Request("GET", "https://huggingface.co/someone/tiny")
    return kind("the hub's own words", response=httpx.Response(status, request=request))


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (refusal(errors.GatedRepoError, 403), "gated"),
        (refusal(errors.RepositoryNotFoundError, 401), "no model of that name"),
        (refusal(errors.RevisionNotFoundError, 404), "no revision"),
        (refusal(errors.HfHubHTTPError, 429), "refused.*later"),
        (errors.LocalEntryNotFoundError("nothing in the cache"), "could not be reached"),
        (errors.OfflineModeIsEnabled("offline"), "HF_HUB_OFFLINE"),
        (ConnectionResetError("reset by peer"), "could not be reached .reset by peer"),
        (httpx.ConnectError("Name or service not known"), "could not be reached .Name or service"),
        (KeyError("weird"), "The loader said: The files are strange"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_the_loader_wraps_is_told_apart_too(saved, monkeypatch, cause, words):
    """transformers turns the hub's errors into OSErrors with texts of its own: the cause counts, not the text."""

    def refuses(*arguments, **options):
        raise OSError("The files are strange\nand more") from cause

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", refuses)
    with pytest.raises(NoModel, match=words):
        load_policy(saved, device="cpu")


def test_a_tokenizer_that_is_missing_is_named(tmp_path):
    """Catches a tokenizer of one token, which transformers makes for GPT-2 where there are no files for one."""
    tiny_gpt2().save_pretrained(tmp_path)
    with pytest.raises(NoModel, match="holds no tokenizer .*save_pretrained"):
        load_policy(tmp_path, device="cpu")
    letter_tokenizer().save_pretrained(tmp_path)
    assert len(load_policy(tmp_path, device="cpu")[1]) == 12


def test_the_weights_of_several_files_are_added_up(tmp_path):
    model = tiny_llama()
    model.save_pretrained(tmp_path, max_shard_size="10KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    assert find(str(tmp_path)).parameters == parameters_of(model)


def test_files_that_the_loader_does_not_read_are_not_counted():
    """Some models carry their weights twice, in two formats or in one file and in parts."""
    names = [
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "consolidated.safetensors",
        "pytorch_model.bin",
    ]
    assert hub.weight_files(names) == names[:2]
    assert hub.weight_files(names[2:]) == ["pytorch_model.bin"]


def test_a_revision_in_the_name(tmp_path, monkeypatch):
    """Catches a folder with an @ in its path that is cut in two."""
    folder = tmp_path / "a@b"
    save(folder)
    assert split_revision("someone/tiny@v1") == ("someone/tiny", "v1")
    assert split_revision("someone/tiny") == ("someone/tiny", None)
    assert split_revision(str(folder)) == (str(folder), None)
    shutil.copytree(folder, tmp_path / "c" / "d@e")
    monkeypatch.chdir(tmp_path)
    assert split_revision("c/d@e") == ("c/d@e", None)


def test_a_path_with_two_revisions_is_no_name_of_the_hub():
    """Catches a folder that is not there, spelt wrong, that is asked for on the hub by the first part of its path."""
    assert split_revision("runs@night/tiny@2") == ("runs@night/tiny@2", None)


def test_an_error_without_a_text_is_still_a_sentence():
    assert "TimeoutError" in why(TimeoutError(), "someone/tiny")


@pytest.mark.parametrize(
    "error",
    [
        refusal(errors.GatedRepoError, 403),
        refusal(errors.HfHubHTTPError, 429),
        errors.OfflineModeIsEnabled("offline"),
        ConnectionResetError("reset by peer"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whoever_cannot_have_a_model_is_told_of_the_one_that_is_here(error):
    """Catches a student who has no network, no account or no leave, and nothing to go on with."""
    advice = r"\. Or use a model that is here: leave COURSE_MODEL unset for the embedded one, which needs no network\.$"
    assert re.search(advice, why(error, "someone/tiny"))


@pytest.mark.parametrize(
    "error", [refusal(errors.RepositoryNotFoundError, 404), KeyError("weird")], ids=["none", "odd"]
)
def test_whoever_asks_for_what_is_no_model_is_told_what_one_is(error):
    """Catches a misspelt name without a word on what can be given, and where."""
    advice = (
        r"\. Give a folder that holds config\.json and the weights, or the name of a model on the hub, "
        r"as COURSE_MODEL or as the first argument\."
    )
    assert re.search(advice, why(error, "someone/tiny"))


@pytest.mark.parametrize(
    ("error", "page"),
    [
        (refusal(errors.GatedRepoError, 403), "https://huggingface.co/someone/tiny,"),
        (refusal(errors.RevisionNotFoundError, 404), "https://huggingface.co/someone/tiny/commits "),
    ],
    ids=["gated", "revision"],
)
def test_the_models_own_page_is_named(error, page):
    """Catches terms to accept, or revisions to choose from, without a word on where they stand."""
    assert page in why(error, "someone/tiny")
