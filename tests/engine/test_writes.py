"""Checkpoints that are being written when the disk is full, Ctrl-C comes or the process is killed: the old one or the new
one is there, never a mixture.
"""

import os
import signal
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from shared.engine import checkpoint, files
from shared.engine.checkpoint import hold, load, save
from tests.engine.checkpoints import STATE, ended, forked, posix


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.pt"


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


@pytest.mark.slow
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


def test_what_a_killed_writer_leaves_is_known_by_its_name(path):
    """Catches names that writer and cleaner understand differently: a full disk, after enough kills."""
    with files.written_beside(path) as file:
        name = Path(file.name)
    name.touch()
    files.remove_leftovers(path)
    assert os.listdir(path.parent) == ["run.pt"]


def test_a_leftover_that_another_one_removes_is_no_error(path, monkeypatch):
    """Catches a run that ends since two of them clean up at once: what one has listed is gone by then."""
    gone = path.with_name("run.pt.0123456789abcdef.partial")
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([gone]))
    files.remove_leftovers(path)


@posix
def test_a_file_system_that_flushes_no_folder_is_taken(path, monkeypatch):
    """Catches a save that fails after all is on the disk."""
    real = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(files.os, "fsync", fsync)
    with files.written_beside(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"


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
