"""One writer of a checkpoint at a time: who else is refused, and what frees it."""

import os
import signal
import time
from pathlib import Path

import pytest

from shared.engine.checkpoint import hold, save
from tests.engine.checkpoints import STATE, ended, forked, posix


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.pt"


def hold_with_a_worker(path: Path, told: int) -> None:
    """What a run does: hold the path, with a forked worker whose number it writes to the pipe `told`, and never end."""
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
