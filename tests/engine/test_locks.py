"""One writer of a checkpoint at a time: who else is refused, and what frees it."""

import os
import signal
import socket
import stat
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from shared.engine import locks
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


@posix
def test_a_worker_that_outlives_the_run_keeps_no_lock(path):
    """Catches a descriptor that a forked child inherits: the lock would live as long as it does."""
    descriptor = locks.lock(path)
    ready, tell = os.pipe()
    child = forked(lambda: (os.write(tell, b"!"), time.sleep(60)))
    try:
        assert os.read(ready, 1) == b"!"
        locks.unlock(descriptor)
        locks.unlock(locks.lock(path))
    finally:
        os.kill(child, signal.SIGKILL)
        ended(child)


def test_the_file_tells_who_has_it_and_is_no_program(path):
    """Catches the text of an earlier holder behind that of this one, and a file that may be executed."""
    path.write_text("process 1234567890 on a machine with a long name\n" * 9)
    descriptor = locks.lock(path)
    assert path.read_text() == f"process {os.getpid()} on {socket.gethostname()}\n"
    locks.unlock(descriptor)
    path.unlink()
    locks.unlock(locks.lock(path))
    assert not path.stat().st_mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


@posix
@pytest.mark.parametrize("text, said", [(b"", "another process"), (b"process 7 on \xff\n", "process 7 on \ufffd")])
def test_a_holder_without_a_readable_name_is_told_all_the_same(text, said, path):
    """Catches a traceback about bytes, or an empty sentence, in place of who has the file."""
    descriptor = locks.lock(path)
    path.write_bytes(text)
    with pytest.raises(BlockingIOError) as refused:
        locks.lock(path)
    assert str(refused.value) == said
    locks.unlock(descriptor)


def test_a_full_disk_does_not_keep_from_locking(path, monkeypatch):
    """Catches a run that ends for want of twenty bytes that only tell who it is."""

    def write(descriptor, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(locks.os, "write", write)
    descriptor = locks.lock(path)
    with pytest.raises(BlockingIOError):
        locks.lock(path)
    locks.unlock(descriptor)


def test_a_file_system_without_locks_is_an_error_and_leaves_no_file_open(path, monkeypatch):
    """Catches a run that believes it is alone, and a descriptor that is lost at every try."""
    closed = []
    real = os.close
    monkeypatch.setattr(locks.os, "close", lambda descriptor: closed.append(descriptor) or real(descriptor))

    def take(descriptor):
        raise OSError(37, f"No locks available for {descriptor}")

    monkeypatch.setattr(locks, "_take", take)
    with pytest.raises(OSError, match="No locks") as error:
        locks.lock(path)
    assert str(error.value).endswith(f"for {closed.pop()}") and not closed


class Windows:
    """Its `msvcrt`, which locks a number of bytes from where the file stands."""

    LK_NBLCK = 2

    def __init__(self, refuses=False):
        self.refuses = refuses
        self.asked = []

    def locking(self, descriptor, mode, count):
        self.asked.append((descriptor, mode, count))
        self.at = os.lseek(descriptor, 0, os.SEEK_CUR)
        if self.refuses:
            raise PermissionError(13, "Permission denied")


@posix
@pytest.mark.parametrize("refuses", [False, True])
def test_windows_locks_one_byte_behind_the_text(refuses, path, monkeypatch):
    """Catches a lock on the text itself, which nobody could read then, and text that is written far behind.

    With a stand-in for `msvcrt`, which is as strict about its arguments and about where the file stands.
    """
    windows = Windows(refuses)
    system = SimpleNamespace(**{name: getattr(os, name) for name in ("lseek", "SEEK_SET")}, name="nt")
    monkeypatch.setattr(locks, "msvcrt", windows, raising=False)
    monkeypatch.setattr(locks, "os", system)
    path.write_text("process 7")
    descriptor = os.open(path, os.O_RDWR)
    try:
        if refuses:
            with pytest.raises(BlockingIOError, match="Permission denied"):
                locks._take(descriptor)
        else:
            locks._take(descriptor)
        assert windows.asked == [(descriptor, 2, 1)] and windows.at >= 1 << 16
        assert os.lseek(descriptor, 0, os.SEEK_CUR) == 0
    finally:
        os.close(descriptor)
