"""A cgroup of its own for each box: the kernel counts what is in it, refuses what is too many, and ends it all at once.

After the kernel's Documentation/admin-guide/cgroup-v2.rst; there is nothing here for version 1. A grader may make
cgroups below one that was delegated to it, and root may make them at the top:

    systemd-run --user --scope -p Delegate=yes checker grade ...

A cgroup below the top that hands controllers to its children may hold no processes itself ("no internal processes").
So a grader that was started in such a cgroup moves into a leaf of its own, beside the boxes.
"""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checker.grading.box import usage
from checker.grading.box.limits import Limits

SELF = Path("/proc/self")
LEAF = "checker-grader"
BOX = "checker-box"
CONTROLLERS = ("pids", "memory")  # the first is needed, the second is taken where it is there
# A process moves itself and becomes the program, which so never runs outside.
ENTER = 'echo 0 > "$0/cgroup.procs" && exec "$@"'
FORK = "import os; os.fork()"
PATIENCE = 5.0  # seconds for killed processes to be gone
BETWEEN_TRIES = 0.005  # seconds
DELEGATED = "systemd-run --user --scope -p Delegate=yes checker grade ..."


class NoCgroup(Exception):
    """No cgroup can be made for a box; the message says why, as the end of "no cgroup, because ..."."""


@dataclass(frozen=True)
class Home:
    """The cgroup below which boxes get theirs, and which of CONTROLLERS it hands to them."""

    folder: Path
    controllers: tuple[str, ...]


@dataclass(frozen=True)
class Cgroup:
    """The cgroup of one box."""

    folder: Path
    limits: Limits

    def entered(self, command: list[str]) -> list[str]:
        """The command that runs another one in here."""
        return ["/bin/sh", "-c", ENTER, str(self.folder), *command]

    def exceeded(self) -> str:
        """A sentence on the limit that the kernel kept, "" for none."""
        if events(self.folder / "pids.events").get("max"):
            return usage.too_many(self.limits)
        if events(self.folder / "memory.events").get("oom"):
            return usage.too_large(self.limits)
        return ""

    def killed_for_memory(self) -> int:
        """The number of its processes that were killed for want of memory, here or above."""
        return events(self.folder / "memory.events").get("oom_kill", 0)


@cache
def home() -> Home:
    """Find the folder in which this process may make cgroups for boxes. One made for a trial must refuse a process
    a child.

    Raises:
        NoCgroup: there is no such place.
    """
    try:
        folder = _candidate()
        found = Home(folder, _handed_down(folder))
        _sweep(folder)
        with made(found, Limits(processes=1)) as trial:
            command = trial.entered([sys.executable, "-S", "-c", FORK])
            said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
            if not trial.exceeded():
                raise NoCgroup(f"one that was made for a trial bounded nothing ({said.strip() or 'it said nothing'})")
    except OSError as error:
        raise NoCgroup(f"the system refuses it ({error.strerror}: {error.filename})") from error
    return found


@contextmanager
def made(at: Home, limits: Limits, on_top: int = 0) -> Iterator[Cgroup]:
    """A cgroup with limits; what is in it when the block is left is killed, and it is removed.

    Args:
        on_top: bytes that files in memory may take beside the processes.
    """
    folder = at.folder / f"{BOX}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    try:
        (folder / "pids.max").write_text(str(limits.processes))
        if "memory" in at.controllers:
            (folder / "memory.max").write_text(str(limits.memory + on_top))
            (folder / "memory.oom.group").write_text("1")
            if (folder / "memory.swap.max").exists():  # not in a kernel without swap
                (folder / "memory.swap.max").write_text("0")
        yield Cgroup(folder, limits)
    finally:
        _remove(folder)


def _candidate() -> Path:
    """The cgroup below which others could be made: the top for root, else this process's own."""
    top, shown = _mounted()
    if os.geteuid() == 0 and not (top / "cgroup.type").exists():  # the one at the very top has no type
        return top
    own = top / _own().relative_to(shown)
    return own.parent if own.name == LEAF else own  # a worker of a grader that has moved


def _mounted() -> tuple[Path, Path]:
    """The place where cgroups of version 2 are mounted, and the cgroup shown there; see proc_pid_mountinfo(5)."""
    for line in (SELF / "mountinfo").read_text().splitlines():
        about, _, kind = line.partition(" - ")
        if kind.split()[0] == "cgroup2":
            fields = about.split()
            return Path(fields[4]), Path(fields[3])
    raise NoCgroup("no cgroups of version 2 are mounted here")


def _own() -> Path:
    """The cgroup of this process; see cgroups(7)."""
    for line in (SELF / "cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return Path(line.removeprefix("0::"))
    raise NoCgroup("this process is in no cgroup of version 2")


def _handed_down(folder: Path) -> tuple[str, ...]:
    """Ask for CONTROLLERS for the boxes, and return those that they get."""
    there = (folder / "cgroup.controllers").read_text().split()
    if "pids" not in there:
        raise NoCgroup(f"{folder} has no controller of processes (`pids` in cgroup.controllers)")
    if not os.access(folder, os.W_OK):
        raise NoCgroup(f"{folder} was not delegated to you; in one that is, you start it by `{DELEGATED}`")
    control = folder / "cgroup.subtree_control"
    if (folder / "cgroup.type").exists() and "pids" not in control.read_text().split():
        _leave(folder)
    control.write_text("+pids")
    if "memory" in there:
        with suppress(OSError):
            control.write_text("+memory")
            return CONTROLLERS
    return CONTROLLERS[:1]


def _leave(folder: Path) -> None:
    """Move this process into a leaf, so that its cgroup may hand controllers down. Others are left where they are."""
    if set((folder / "cgroup.procs").read_text().split()) - {str(os.getpid())}:
        raise NoCgroup(f"there are other processes in {folder}; in one of its own, you start it by `{DELEGATED}`")
    leaf = folder / LEAF
    leaf.mkdir(exist_ok=True)
    (leaf / "cgroup.procs").write_text("0")


def _sweep(folder: Path) -> None:
    """Remove what graders left that were killed. A cgroup with processes in it cannot be removed."""
    for left in folder.glob(f"{BOX}-*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            with suppress(OSError):
                os.rmdir(left)


def _remove(folder: Path) -> None:
    with suppress(OSError):  # not in a kernel before 5.14; with the first process of bwrap all others end as well
        (folder / "cgroup.kill").write_text("1")
    deadline = time.monotonic() + PATIENCE
    while folder.exists() and time.monotonic() < deadline:
        try:
            os.rmdir(folder)
        except OSError:  # its processes are still ending
            time.sleep(BETWEEN_TRIES)


def events(path: Path) -> dict[str, int]:
    """The lines of such a file: how often each thing has happened."""
    if not path.exists():
        return {}
    pairs = (line.split() for line in path.read_text().splitlines())
    return {name: int(number) for name, number in pairs}
