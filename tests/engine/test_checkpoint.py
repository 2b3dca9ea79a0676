"""A checkpoint is read as it was saved, or a sentence says that bytes were flipped or that the file is another's."""

import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.engine import checkpoint
from shared.engine.checkpoint import HEAD_BYTES, hold, load, save
from tests.engine.checkpoints import STATE


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.pt"


def same(a, b) -> bool:
    """Equal to the bit, dtypes included."""
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


# --- what is read back


def test_what_was_saved_is_what_is_loaded(path):
    assert load(path) is None
    save(path, STATE)
    assert same(load(path), STATE)
    save(str(path), {"other": 1})
    assert load(str(path)) == {"other": 1}
    assert os.listdir(path.parent) == ["run.pt"]


def test_folders_that_are_missing_are_made(tmp_path):
    """Catches a run that ends at its first checkpoint; the second finds the folders made."""
    for name in ("run.pt", "again.pt"):
        save(tmp_path / "saved" / "a folder" / name, {"a": 1})
        with hold(tmp_path / "held" / "a folder" / name):
            assert (tmp_path / "held" / "a folder").is_dir()


def test_tensors_go_where_they_are_asked_to_and_to_the_cpu_by_default(path):
    """Catches a checkpoint from a GPU that cannot be read where there is none."""
    save(path, {"w": torch.ones(2)})
    assert load(path, "meta")["w"].device.type == "meta" and load(path)["w"].device.type == "cpu"


def test_the_state_dict_of_a_module_is_a_state(path):
    """The value head of PPO is saved like this: an OrderedDict with an attribute of its own."""
    head = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())
    save(path, head.state_dict())
    head.load_state_dict(load(path))


@pytest.mark.parametrize("value, place", [(np.float64(0.5), "numpy.float64"), (Path("x"), "Path"), ({1}, "set")])
def test_what_could_not_be_loaded_is_not_saved(value, place, path):
    """Catches hours of training in a file that weights_only refuses: a reward of numpy is a float too."""
    save(path, {"old": 1})
    with pytest.raises(TypeError, match=rf"""state\['history'\]\[1\]\['reward'\], a .*{place}"""):
        save(path, {"history": [{"reward": 1.0}, {"reward": value}]})
    assert load(path) == {"old": 1}


def test_a_key_that_could_not_be_loaded_is_not_saved(path):
    """Catches a count of words under numpy's numbers."""
    with pytest.raises(TypeError, match=r"state\['counts'\]\[np.int64\(3\)\], a numpy.int64"):
        save(path, {"counts": {np.int64(3): 1.0}})


def test_a_link_stays_a_link(path, tmp_path):
    """Catches a checkpoint that moves from the large disk, to which its name was linked, to the small one."""
    target = tmp_path / "large disk" / "run.pt"
    path.symlink_to(target)
    save(path, {"a": 1})
    assert path.is_symlink() and load(target) == {"a": 1}


# --- damage


def test_every_flipped_byte_is_noticed(path):
    """torch.load alone gives another weight for most of them and no error."""
    state = {"w": torch.arange(8.0), "history": [{"reward": 0.5}]}
    save(path, state)
    content = path.read_bytes()
    assert len(content) > HEAD_BYTES + 500
    with open(path, "r+b", buffering=0) as file:
        for place, byte in enumerate(content):
            for flip in (0xFF, 1 << place % 8):
                os.pwrite(file.fileno(), bytes([byte ^ flip]), place)
                with pytest.raises(ValueError, match="^The checkpoint|^/.* is not a checkpoint"):
                    load(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
    assert same(load(path), state)


def test_a_cut_or_lengthened_file_is_noticed(path):
    save(path, STATE)
    content = path.read_bytes()
    for length in [*range(HEAD_BYTES + 5), *range(HEAD_BYTES, len(content), 7), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError):
            load(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(ValueError, match="damaged"):
        load(path)


# --- foreign files


class Spy:
    """A pickle of it creates a file when it is loaded."""

    def __init__(self, file: Path):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def bare_tensor(path):
    torch.save(torch.ones(3), path)


def bare_list(path):
    torch.save([1, 2], path)


def bare_checkpoint(path):
    torch.save({"model": {}, "optimizer": {}, "config": {}, "history": []}, path)


def zip_archive(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "text")


FOREIGN = {
    "empty": (lambda path: path.touch(), "not a checkpoint of this course"),
    "text": (lambda path: path.write_text("step,reward\n1,0.5\n"), r"its first bytes are b'step,reward\\n1,0\.'\."),
    "short": (lambda path: path.write_bytes(b"tiny-grpo"), "not a checkpoint of this course"),
    "folder": (lambda path: path.mkdir(), "cannot be read"),
    "pickle": (lambda path: path.write_bytes(pickle.dumps(STATE["history"])), "not a checkpoint of this course"),
    "tensor": (bare_tensor, "bare torch.save"),
    "list": (bare_list, "bare torch.save"),
    "earlier version": (bare_checkpoint, "earlier versions"),
    "zip": (zip_archive, r"\(or another zip\) file"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_refused_with_a_sentence(kind, path):
    make, words = FOREIGN[kind]
    make(path)
    with pytest.raises(ValueError, match=words) as refused:
        load(path)
    assert str(path) in str(refused.value)


def test_a_newer_version_is_told_from_damage(path):
    save(path, STATE)
    path.write_bytes(path.read_bytes().replace(b"version 01", b"version 02", 1))
    with pytest.raises(ValueError, match="format 2.*formats up to 1.*Update"):
        load(path)


def with_head(payload: bytes) -> bytes:
    digest = checkpoint.hashlib.sha256(payload).hexdigest()
    return checkpoint.HEAD.format(version=checkpoint.VERSION, digest=digest).encode() + payload


@pytest.mark.parametrize("head", [lambda payload: payload, with_head], ids=["bare", "with our head"])
def test_no_pickle_runs(head, path, tmp_path):
    """Catches weights_only=False: a checkpoint from a stranger would run the stranger's code."""
    spied = tmp_path / "it ran"
    payload = pickle.dumps({"model": Spy(spied)}, protocol=2)
    pickle.loads(payload)
    assert spied.exists()  # the trap works
    spied.unlink()
    path.write_bytes(head(payload))
    with pytest.raises(ValueError):
        load(path)
    assert not spied.exists()


def test_no_pickle_runs_in_a_zip_of_torch(path, tmp_path):
    spied = tmp_path / "it ran"
    torch.save({"model": Spy(spied)}, path)
    path.write_bytes(with_head(path.read_bytes()))
    with pytest.raises(ValueError, match="run.pt is whole but cannot be read"):
        load(path)
    assert not spied.exists()


def test_a_list_behind_our_head_is_refused(path):
    torch.save([1, 2], path)
    path.write_bytes(with_head(path.read_bytes()))
    with pytest.raises(ValueError, match="run.pt holds a list, not a dict"):
        load(path)
