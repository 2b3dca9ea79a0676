"""One writer of a checkpoint at a time: who else is refused, and what frees it."""

import errno
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from shared.engine import checkpoint
from shared.engine.checkpoint import hold, save
from tests.engine.checkpoints import STATE, ended, forked, posix


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.pt"


def hold_with_a_worker(path: Path, told: int) -> None:
    """A run that never ends: it holds the path, and writes the number of a forked worker to the pipe `told`."""
    with hold(path):
        worker = os.fork()
        if worker:
            os.write(told, f"{worker}\n".encode())
        time.sleep(60)


def test_a_path_behind_a_file_is_a_sentence(path):
    path.touch()
    with pytest.raises(OSError, match="run.pt/a.pt cannot be kept for this run .*Choose a path in a folder"):
        with hold(path / "a.pt"):
            pass


@posix
def test_a_killed_holder_leaves_it_free(path):
    """Catches a lock file whose existence is the lock, and a lock that lives on in a forked worker of the dead run."""
    heard, told = os.pipe()
    holder = forked(lambda: hold_with_a_worker(path, told))
    os.close(told)
    worker = int(os.read(heard, 100))
    try:
        with pytest.raises(ValueError, match=f"in use by process {holder} on .*another path") as refused, hold(path):
            pass
        assert str(path) in str(refused.value)
        os.kill(holder, signal.SIGKILL)
        assert ended(holder) == -signal.SIGKILL
        os.kill(worker, 0)  # still there
        with hold(path):
            save(path, STATE)
    finally:
        os.kill(worker, signal.SIGKILL)
        os.close(heard)


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


def test_the_file_tells_who_has_it_now(path):
    """Catches the text of an earlier holder behind that of this one."""
    file = path.with_name("run.pt.lock")
    file.write_text("process 1234567890 on a machine with a long name\n" * 9)
    with hold(path):
        assert file.read_text().split("\n")[1:] == [f"process {os.getpid()} on {socket.gethostname()}", ""]


@posix
@pytest.mark.parametrize("text, said", [(b"", "another process"), (b"\nprocess 7 on \xff\n", "process 7 on \ufffd")])
def test_a_holder_without_a_readable_name_is_told_all_the_same(text, said, path):
    """Catches a traceback about bytes, or an empty sentence, in place of who has the file."""
    with hold(path):
        path.with_name("run.pt.lock").write_bytes(text)
        with pytest.raises(ValueError, match=f"in use by {said}. Wait"), hold(path):
            pass


def test_a_full_disk_does_not_keep_from_holding(path, monkeypatch):
    """Catches a run that ends for want of twenty bytes that only tell who it is."""

    def write(descriptor, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.os, "write", write)
    with hold(path), pytest.raises(ValueError, match="in use by another process"), hold(path):
        pass


def test_a_file_system_without_locks_is_a_sentence(path, monkeypatch):
    """Catches a run that believes it is alone, and a file whose existence is the lock, which a killed run leaves."""
    fcntl = pytest.importorskip("fcntl")

    def flock(descriptor, how):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match="run.pt cannot be kept for this run"), hold(path):
        pass
