"""The ends of a box that a witness outside tells apart: each is written down, and no box is started."""

import subprocess
from types import SimpleNamespace

import pytest

from checker.grading.box import ending
from checker.grading.box.ending import Witness
from checker.grading.box.walls import Isolation

OF_MEMORY = "the machine's memory was full"
FROM_OUTSIDE = "it was killed from outside"


class Process:
    """A box's first process, with the status that it ended with; None for one that runs on."""

    def __init__(self, status):
        self.status = status

    def wait(self, seconds):
        if seconds is None or not 1 <= seconds <= 10:
            raise AssertionError(f"waits {seconds} s")
        if self.status is None:
            raise subprocess.TimeoutExpired("box", seconds)
        return self.status


@pytest.fixture
def killed(monkeypatch, tmp_path):
    """Write how many processes the system has killed for want of memory, None for a system that does not say."""
    assert str(ending.OF_THE_SYSTEM) == "/proc/vmstat"
    file = tmp_path / "vmstat"
    monkeypatch.setattr(ending, "OF_THE_SYSTEM", file)

    def write(count):
        file.write_text("pgfault 9\n" + ("" if count is None else f"oom_kill {count}\n"))

    write(3)
    return write


def witness(isolation, status=0, cgroup=None):
    box = SimpleNamespace(isolation=isolation)
    return Witness(SimpleNamespace(box=box, process=Process(status), cgroup=cgroup))


BWRAP = Isolation("bwrap")


def test_nothing_is_seen_of_a_box_that_ended_by_itself(killed):
    """Catches a submission that is blamed on the machine, and graded again at each run."""
    for status in (0, 1, None):
        assert witness(BWRAP, status).seen() == ""
    killed(None)
    assert witness(BWRAP).seen() == ""


def test_memory_that_was_full_before_is_no_cause(killed):
    """Catches a count since the machine was started taken for one since the box was."""
    seen = witness(BWRAP, status=-9)
    assert seen.seen() == FROM_OUTSIDE
    killed(4)
    assert seen.seen() == OF_MEMORY
    killed(None)
    first = witness(BWRAP)
    killed(1)
    assert first.seen() == OF_MEMORY, "a system that has killed none yet says nothing"


@pytest.mark.parametrize(("kind", "said"), [("bwrap", FROM_OUTSIDE), ("podman", FROM_OUTSIDE), ("none", "")])
def test_a_signal_is_from_outside_where_there_are_walls(kind, said, killed):
    """Catches a submission without walls that kills its box, and is never graded for it."""
    assert witness(Isolation(kind), status=-9).seen() == said


def test_of_a_container_want_of_memory_is_not_told(killed):
    """Catches a submission that reaches its own container's limit and blames the machine."""
    seen = witness(Isolation("podman"))
    killed(9)
    assert seen.seen() == ""


def test_a_box_of_a_cgroup_is_counted_there(killed):
    """Catches another program's want of memory taken for the box's, where the kernel counts the box by itself."""
    counts = [5]
    cgroup = SimpleNamespace(killed_for_memory=lambda: counts[-1])
    both = Isolation("bwrap", controllers=("pids", "memory"))
    seen = witness(both, cgroup=cgroup)
    killed(9)
    assert seen.seen() == ""
    counts.append(6)
    assert seen.seen() == OF_MEMORY
    for isolation, group in ((Isolation("bwrap", controllers=("pids",)), cgroup), (both, None)):
        killed(3)
        seen = witness(isolation, cgroup=group)
        counts.append(counts[-1] + 1)
        assert seen.seen() == ""
        killed(4)
        assert seen.seen() == OF_MEMORY
