"""The size of a model before it is loaded: from the hub's record, from the cache, from a folder.

The hub's client is a stand-in that answers with the client's own records, so each test takes milliseconds.
"""

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelInfo, constants
from safetensors.torch import save_file

from shared.engine import hub
from shared.engine.hub import NoModel, Source, find

COMMIT = "a" * 40
NEWEST = "b" * 40
NAME = "someone/tiny"


@dataclass
class Client:
    """Stands in for `HfApi`, with one model: v1 is COMMIT, the newest is NEWEST. No requests, retries or tokens.

    files: name to bytes, None where the hub does not say.  total: weights by the headers of its safetensors files.
    """

    files: dict[str, int | None] | None = None
    total: int | None = None
    gated: bool = False
    reachable: bool = True
    timeouts: list[float | None] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)

    def resolve_revision(self, name, *, revision=None):
        if not self.reachable:
            raise ConnectionError("no network")
        return {None: NEWEST, "v1": COMMIT}[revision]

    def model_info(self, name, *, revision=None, timeout=None, files_metadata=False):
        self.timeouts.append(timeout)
        record = {"id": name, "sha": revision or NEWEST, "gated": self.gated}
        if self.files is not None:
            record["siblings"] = [
                {"rfilename": file, "size": size if files_metadata else None} for file, size in self.files.items()
            ]
        if self.total is not None:
            record["safetensors"] = {"parameters": {"F32": self.total}, "total": self.total}
        return ModelInfo(**record)

    def auth_check(self, name):
        self.checked.append(name)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """The model's folder in an empty cache."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models--someone--tiny"


@pytest.fixture
def ask(cache, monkeypatch):
    """`find` with a client in place of the hub's."""

    def finds(client: Client, revision: str | None = None) -> Source:
        monkeypatch.setattr(hub, "HfApi", lambda: client)
        return find(NAME, revision)

    return finds


def downloaded(cache: Path, branch: str, commit: str) -> Path:
    """The folder of a commit in the cache, to which a branch or a tag points."""
    (cache / "refs").mkdir(parents=True, exist_ok=True)
    (cache / "refs" / branch).write_text(commit)
    folder = cache / "snapshots" / commit
    folder.mkdir(parents=True)
    return folder


def write_model(folder: Path) -> None:
    """A configuration and six weights."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text("{}")
    save_file({"matrix": torch.zeros(2, 3)}, folder / "model.safetensors")


def fields(**known) -> dict:
    """The fields of a Source: those that are given, and what the others are when nothing is known."""
    unknown = {"revision": None, "parameters": None, "download": 0, "cached_only": False, "adapters": False}
    return unknown | {"folder": None, "gguf": ""} | known


def test_the_hubs_count_of_weights_goes_before_the_size_of_the_files(ask):
    """Catches a model in two bytes a weight that is taken for half of what it holds, and so for one that fits."""
    files = {"config.json": 500, "model.safetensors": 2000, "pytorch_model.bin": 4000}
    source = ask(Client(files, total=1000), "v1")
    assert asdict(source) == fields(name=NAME, revision=COMMIT, parameters=1000, download=2000)


def test_weights_that_the_hub_did_not_count_are_told_from_the_size_of_their_files(ask):
    """Catches files of other kinds counted as weights, and a fraction of a weight: these files have a header."""
    source = ask(Client({"config.json": 500, "pytorch_model.bin": 4003}))
    assert asdict(source) == fields(name=NAME, revision=NEWEST, parameters=1000, download=4003)


@pytest.mark.parametrize("files", [None, {}, {"config.json": 500}], ids=["no list", "empty", "no weights"])
def test_where_there_are_no_weights_their_number_is_not_known(ask, files):
    """Catches a record without files, as of a new model, that ends in an error of Python's or in "0 weights"."""
    assert asdict(ask(Client(files))) == fields(name=NAME, revision=NEWEST)


def test_a_file_whose_size_the_hub_does_not_say_adds_nothing(ask):
    """Catches a sum over None."""
    assert ask(Client({"model.safetensors": None}, total=10)).download == 0


def test_only_what_is_not_in_the_cache_is_still_to_be_downloaded(ask, cache):
    """Catches a disk that is too small for what is on it already, or large enough for what is not."""
    files = {"model-00001-of-00002.safetensors": 1000, "model-00002-of-00002.safetensors": 300}
    (downloaded(cache, "main", NEWEST) / "model-00001-of-00002.safetensors").touch()
    assert ask(Client(files)).download == 300


def test_the_weights_of_another_commit_have_still_to_be_downloaded(ask, cache):
    """Catches an older commit in the cache that is taken for the one that was asked for."""
    write_model(downloaded(cache, "main", NEWEST))
    client = Client({"model.safetensors": 1000})
    assert ask(client, "v1").download == 1000
    assert ask(client).download == 0


def test_the_hub_is_not_waited_for_without_end(ask):
    """Catches a request without a limit of time, on a network that answers nothing."""
    client = Client({})
    ask(client)
    assert 0 < client.timeouts[0] < 60


@pytest.mark.parametrize("gated", [True, False])
def test_leave_is_asked_for_the_model_itself_and_only_where_it_is_gated(ask, gated):
    """Catches a gated model that is found, and refused only in the middle of its download."""
    client = Client({}, gated=gated)
    ask(client)
    assert client.checked == [NAME] * gated


@pytest.mark.parametrize("others", [{}, {"config.json": 500}], ids=["alone", "beside a configuration"])
def test_adapters_on_the_hub_are_told_by_their_configuration(ask, others):
    """Catches adapters that are loaded as a model the first time, and as adapters from the cache afterwards."""
    source = ask(Client({"adapter_config.json": 100, "adapter_model.safetensors": 2000} | others), "v1")
    assert asdict(source) == fields(name=NAME, revision=COMMIT, adapters=True)


def test_adapters_in_the_cache_are_told_by_their_configuration(ask, cache):
    """Catches adapters of another revision, and the client's mark for "the hub has no such file", taken for a path."""
    for branch, commit in [("main", NEWEST), ("v1", COMMIT)]:
        (downloaded(cache, branch, commit) / "adapter_config.json").write_text("{}")
        no_such_file = cache / ".no_exist" / commit
        no_such_file.mkdir(parents=True)
        (no_such_file / "config.json").touch()
    source = ask(Client(reachable=False), "v1")
    assert asdict(source) == fields(name=NAME, revision=COMMIT, cached_only=True, adapters=True)


def test_a_model_in_the_cache_is_that_of_the_revision(ask, cache):
    """Catches the newest commit in the cache in place of the one that was asked for."""
    write_model(downloaded(cache, "main", NEWEST))
    with pytest.raises(NoModel, match="no network.*not wholly, downloaded"):
        ask(Client(reachable=False), "v1")
    write_model(downloaded(cache, "v1", COMMIT))
    source = ask(Client(reachable=False), "v1")
    assert asdict(source) == fields(name=NAME, revision=COMMIT, parameters=6, cached_only=True)


def test_the_loader_is_told_the_commit_and_whether_it_may_ask_the_hub():
    """Catches a loader that takes the newest commit, or asks a hub that cannot be reached."""
    assert Source(NAME, COMMIT).options == {"revision": COMMIT, "local_files_only": False}
    assert Source(NAME, COMMIT, cached_only=True).options == {"revision": COMMIT, "local_files_only": True}
    assert Source("/a/folder").options == {}


def test_adapters_in_a_folder_are_told_by_their_configuration(tmp_path):
    """Catches a folder of adapters that is refused for its lack of a model, or loaded as one."""
    (tmp_path / "adapter_config.json").write_text("{}")
    assert asdict(find(str(tmp_path))) == fields(name=str(tmp_path), folder=tmp_path, adapters=True)


def write_old_model(folder: Path) -> None:
    """A configuration and a thousand weights in the format that came before safetensors."""
    (folder / "config.json").write_text("{}")
    (folder / "pytorch_model.bin").write_bytes(b"\0" * 4003)


def test_the_weights_of_an_old_file_are_told_from_its_size(tmp_path):
    """Catches a folder that is said to hold no weights, a pickle that is opened as a safetensors file, and a fraction."""
    write_old_model(tmp_path)
    assert asdict(find(str(tmp_path))) == fields(name=str(tmp_path), folder=tmp_path, parameters=1000)


def test_a_model_in_an_old_file_is_found_in_the_cache(ask, cache):
    """Catches an old model that was downloaded whole and is said not to be, once there is no network."""
    write_old_model(downloaded(cache, "main", COMMIT))
    source = ask(Client(reachable=False))
    assert asdict(source) == fields(name=NAME, revision=COMMIT, parameters=1000, cached_only=True)


def test_every_complaint_about_a_folder_names_it(tmp_path):
    """Catches a sentence about some folder, where COURSE_MODEL was set long ago and is not what one thinks."""
    folder = tmp_path / "my model"
    write_model(folder)
    with pytest.raises(NoModel, match=f"^{re.escape(repr(str(folder)))} is a folder, which has no revision 'v1'"):
        find(str(folder), "v1")
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(
        NoModel, match=f"^{re.escape(repr(str(folder / 'model.safetensors')))} is not a whole file.*git lfs pull"
    ):
        find(str(folder))
    (folder / "model.safetensors").unlink()
    with pytest.raises(NoModel, match=f"^The folder {re.escape(repr(str(folder)))} holds no weights"):
        find(str(folder))
    (folder / "config.json").unlink()
    with pytest.raises(NoModel, match=f"^The folder {re.escape(repr(str(folder)))} holds no config.json"):
        find(str(folder))
