"""Checkpoints against what happens to files: flipped bytes, foreign files, full disks, killed and rival writers."""

import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from shared.engine import checkpoint, files
from shared.engine.checkpoint import HEAD_BYTES, hold, load, save

posix = pytest.mark.skipif(os.name != "posix", reason="kill -9 and fork are POSIX")
STATE = {
    "model": {"w": torch.arange(6.0).view(2, 3), "b": torch.tensor([0.1, -0.0, float("inf")], dtype=torch.bfloat16)},
    "optimizer": {"state": {0: {"step": torch.tensor(3.0)}}, "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999)}]},
    "history": [{"step": 1, "reward": 0.25}, {"step": 2, "reward": float("inf")}],
    "name": None,
}


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


def forked(act: Callable[[], None]) -> int:
    """Run `act` in a forked child that does nothing else; the child's process id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        act()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """Wait for a child: 0 when it went well, -9 when it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


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


def test_a_bare_file_would_not_notice(path):
    """Why there is a digest: without it a flipped bit of a weight comes back as a weight."""
    weights = torch.arange(1000.0)
    torch.save({"w": weights}, path)
    content = bytearray(path.read_bytes())
    content[content.index(weights.numpy().tobytes()) + 2001] ^= 1
    path.write_bytes(content)
    assert not torch.equal(torch.load(path, weights_only=True)["w"], weights)


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


# --- interrupted writes


def test_the_bytes_reach_the_disk_before_the_name(path, monkeypatch):
    """Catches a rename without fsync: a power cut leaves the new name with no content."""
    calls = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor):
        is_file = files.os.path.isfile(f"/proc/self/fd/{descriptor}") if sys.platform == "linux" else None
        calls.append(("fsync", is_file))
        real_fsync(descriptor)

    def replace(old, new):
        calls.append(("replace", None))
        real_replace(old, new)

    monkeypatch.setattr(files.os, "fsync", fsync)
    monkeypatch.setattr(files.os, "replace", replace)
    save(path, STATE)
    assert [name for name, _ in calls] == (
        ["fsync", "replace", "fsync"] if os.name == "posix" else ["fsync", "replace"]
    )
    if sys.platform == "linux":
        assert [is_file for name, is_file in calls if name == "fsync"] == [True, False]


@pytest.mark.parametrize(
    "failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"]
)
@pytest.mark.parametrize("at", [0, 1, 2, 5, 8])
def test_a_write_that_fails_leaves_the_old_file(failure, at, path, monkeypatch):
    """Also catches torch.save's own error in the place of a full disk or of Ctrl-C, which must end training well."""
    save(path, {"old": 1})
    writes = iter(range(1000))
    real = checkpoint._Digested.write

    class Failing:
        def __init__(self, file):
            self.file = file

        def write(self, data):
            if next(writes) == at:
                raise failure
            return self.file.write(data)

    def write(payload, data):
        if not isinstance(payload.file, Failing):
            payload.file = Failing(payload.file)
        return real(payload, data)

    monkeypatch.setattr(checkpoint._Digested, "write", write)
    with pytest.raises(type(failure)) as raised:
        save(path, STATE)
    if isinstance(failure, OSError):
        assert "No space left on device" in str(raised.value) and "is as it was" in str(raised.value)
    assert load(path) == {"old": 1} and os.listdir(path.parent) == ["run.pt"]


@posix
def test_a_file_that_may_not_grow_is_a_sentence(path):
    """The real thing beside the fake above: the system itself refuses the bytes, as on a full disk."""
    save(path, {"old": 1})

    def act():
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        with pytest.raises(OSError, match="could not be written.*too large"):
            save(path, {"w": torch.zeros(100_000)})

    assert ended(forked(act)) == 0
    assert load(path) == {"old": 1} and os.listdir(path.parent) == ["run.pt"]


def dying(function: Callable, moments: list, at: int) -> Callable:
    """`function`, before whose calls this process may be killed: at the one that makes `moments` so long."""

    def call(*args, **options):
        moments.append(function.__name__)
        if len(moments) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **options)

    return call


def save_and_die(path: Path, at: int) -> None:
    """Save, and be killed before the write, flush, rename or close number `at`."""
    moments = []
    checkpoint._Digested.write = dying(checkpoint._Digested.write, moments, at)
    for name in ("fsync", "replace", "close"):
        setattr(files.os, name, dying(getattr(os, name), moments, at))
    save(path, {"n": 1, "w": torch.ones(50)})


@posix
def test_kill_9_at_every_moment_of_a_save(path):
    """Before the rename the old state is there, after it the new one, and never a mixture; `hold` tidies up."""
    found = []
    save(path, {"n": 0, "w": torch.zeros(50)})
    status = -signal.SIGKILL
    while status:
        status = ended(forked(lambda: save_and_die(path, len(found) + 1)))
        assert status in (0, -signal.SIGKILL)
        state = load(path)
        assert state["w"].eq(state["n"]).all()
        if state["n"] == 0:
            assert len(list(path.parent.glob("run.pt.*.partial"))) <= 1
        found.append(state["n"])
        with hold(path):
            assert sorted(os.listdir(path.parent)) == ["run.pt", "run.pt.lock"]
    assert len(found) > 20 and found == sorted(found) and sum(found) >= 3


@posix
def test_kill_9_at_any_moment_of_a_run(path):
    """Twenty runs are killed one after the other, each holding the checkpoint and writing it again and again."""
    moment = random.Random(0)
    last = 0

    def run():
        with hold(path):
            for n in range(last + 1, last + 1_000_000):
                save(path, {"n": n, "w": torch.full((20_000,), float(n))})

    save(path, {"n": 0, "w": torch.zeros(20_000)})
    for number in range(20):
        child = forked(run)
        try:
            while (
                not number and load(path)["n"] == 0
            ):  # the first is killed when it is at work, however busy the machine
                time.sleep(0.01)
            time.sleep(moment.uniform(0, 0.05))
        finally:
            os.kill(child, signal.SIGKILL)
        assert ended(child) == -signal.SIGKILL
        state = load(path)
        assert state["n"] >= last and state["w"].eq(state["n"]).all()
        last = state["n"]
    assert last > 0
    with hold(path):
        assert sorted(os.listdir(path.parent)) == ["run.pt", "run.pt.lock"]


def test_leftovers_of_other_checkpoints_are_not_touched(path):
    """Catches a pattern that also fits the file which another run is writing right now."""
    names = [
        "run.pt.best.0123456789abcdef.partial",
        "run.pt2.0123456789abcdef.partial",
        "run.pt.notes.partial",
        "runXpt.0123456789abcdef.partial",
        "run.pt.0123456789abcdef.partial.txt",
    ]
    others = [path.with_name(name) for name in names]
    for file in others:
        file.touch()
    path.with_name("run.pt.0123456789abcdef.partial").touch()
    with hold(path):
        assert set(path.parent.iterdir()) == {*others, path.with_name("run.pt.lock")}


# --- one writer at a time

HOLDER = """
import os, sys, time
from shared.engine.checkpoint import hold
with hold(sys.argv[1]):
    child = os.fork()
    if child:
        print(child, flush=True)
    time.sleep(60)
"""


def test_a_path_behind_a_file_is_a_sentence(path):
    path.touch()
    with pytest.raises(OSError, match="run.pt/a.pt cannot be kept for this run .*Choose a path in a folder"):
        with hold(path / "a.pt"):
            pass


@posix
def test_a_killed_holder_leaves_it_free(path):
    """Catches a lock file whose existence is the lock, and a lock that lives on in a forked worker of the dead run."""
    root = Path(__file__).parents[2]
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, path], cwd=root, stdout=subprocess.PIPE, text=True)
    worker = int(holder.stdout.readline())
    try:
        with (
            pytest.raises(ValueError, match=f"in use by process {holder.pid} on .*another path") as refused,
            hold(path),
        ):
            pass
        assert str(path) in str(refused.value)
        holder.kill()
        holder.wait()
        os.kill(worker, 0)  # still there
        with hold(path):
            save(path, STATE)
    finally:
        holder.kill()
        os.kill(worker, signal.SIGKILL)


def test_the_same_process_cannot_hold_it_twice(path, tmp_path):
    """Two notebooks cells, or a path and a link to it: catches locks that belong to a process as a whole."""
    link = tmp_path / "link.pt"
    link.symlink_to(path)
    with hold(path):
        for other in (path, str(path), link):
            with pytest.raises(ValueError, match=f"in use by process {os.getpid()}"), hold(other):
                pass
        with hold(tmp_path / "another.pt"):
            pass
    with hold(path):
        pass


def test_an_error_of_the_run_is_passed_on_and_frees_it(path):
    """Catches a BlockingIOError of the run itself that is reported as a checkpoint in use."""
    for error in (BlockingIOError("the run's own"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as raised, hold(path):
            raise error
        assert raised.value is error
    with hold(path):
        pass


def is_refused(path: Path) -> bool:
    try:
        with hold(path):
            return False
    except ValueError:
        return True


@posix
def test_a_forked_child_neither_holds_nor_frees_it(path):
    """Catches an unlock in a data-loading worker that ends, which would free the lock of the run."""

    def leave_the_block():
        assert is_refused(path)
        held.__exit__(None, None, None)
        assert is_refused(path)

    held = hold(path)
    with held:
        assert ended(forked(leave_the_block)) == 0
        assert ended(forked(lambda: None if is_refused(path) else os.abort())) == 0
    assert not is_refused(path)


@posix
def test_a_folder_that_cannot_be_written_is_a_sentence():
    folder = Path(tempfile.mkdtemp())  # not tmp_path, which only its owner may enter
    folder.chmod(0o555)

    def act():
        if os.geteuid() == 0:
            os.seteuid(65534)  # the administrator may write everywhere
        with (
            pytest.raises(OSError, match="run.pt cannot be kept .* a folder that you can write"),
            hold(folder / "run.pt"),
        ):
            pass
        with pytest.raises(OSError, match="run.pt could not be written .* choose another path"):
            save(folder / "run.pt", {})

    try:
        assert ended(forked(act)) == 0
    finally:
        folder.rmdir()
