"""Starting a box of each kind, and ending it with all that runs in it."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from checker.grading.box import cgroups, containers, seccomp, usage, walls
from checker.grading.box.cgroups import Cgroup
from checker.grading.box.usage import Usage
from checker.grading.box.walls import Box

INNER = [sys.executable, "-m", "checker.grading.box.inside"]
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}


@dataclass(frozen=True)
class Running:
    """A box that runs.

    process: its first one.                 cgroup: that it is in, where it has one that is ours.
    watched: whether all of its processes stand below the first one; those of a container do not.
    """

    box: Box
    process: subprocess.Popen
    cgroup: Cgroup | None = None
    watched: bool = True

    def exceeded(self) -> tuple[str, Usage]:
        """A sentence on the limit that the box is over ("" for none), and what it takes."""
        sentence = ""
        taken = Usage(0, 0, 0.0)
        if self.watched:
            sentence, taken = usage.exceeded(self.process.pid, self.box.limits)
        return sentence or self.refused(), taken

    def refused(self) -> str:
        """A sentence on the limit that the kernel kept in the box's cgroup, "" for none."""
        return self.cgroup.exceeded() if self.cgroup is not None else ""


def started(box: Box, given) -> AbstractContextManager[Running]:
    """The box, doing the job in the file `given`; it and all in it have ended when the block is left."""
    if box.isolation.kind == "none":
        return _without_walls(box, given)
    if box.isolation.kind == "bwrap":
        return _in_bubblewrap(box, given)
    return _in_a_container(box, given)


@contextmanager
def _in_bubblewrap(box: Box, given) -> Iterator[Running]:
    with _cgroup(box) as cgroup:
        process = _bubblewrap(box, given, cgroup)
        try:
            yield Running(box, process, cgroup)
        finally:
            process.kill()  # the kernel then ends all of its processes
            process.wait()


def _bubblewrap(box: Box, given, cgroup: Cgroup | None) -> subprocess.Popen:
    filter_at = _filter()
    # The box's first process shows to all others what it was started with: neither variables nor paths of this machine.
    command, arguments_at = _arguments_apart(walls.bubblewrap(box, INNER, filter_at))
    kept = tuple(number for number in (filter_at, arguments_at) if number is not None)
    if cgroup is not None:
        command = cgroup.entered(command)
    try:
        return subprocess.Popen(command, stdin=given, pass_fds=kept, env={}, cwd="/", **PIPES)
    finally:
        for number in kept:
            os.close(number)


def _arguments_apart(command: list[str]) -> tuple[list[str], int]:
    """bubblewrap's command without its arguments, and the descriptor from which it reads them."""
    end = command.index("--")
    reading = os.memfd_create("arguments")
    os.write(reading, "\0".join(command[1:end]).encode())
    os.lseek(reading, 0, os.SEEK_SET)
    return [command[0], "--args", str(reading), *command[end:]], reading


@contextmanager
def _cgroup(box: Box) -> Iterator[Cgroup | None]:
    """The box's cgroup, where it has one.

    Raises:
        NoCgroup: this machine has none for it, unlike the one where the isolation was chosen.
    """
    if not box.isolation.controllers:
        yield None
        return
    at = replace(cgroups.home(), controllers=box.isolation.controllers)
    with cgroups.made(at, box.limits, on_top=box.limits.folder + walls.SHARED_MEMORY) as cgroup:
        yield cgroup


def _filter() -> int | None:
    """A descriptor from which the filter of system calls can be read."""
    program = seccomp.program()
    if program is None:
        return None
    reading, writing = os.pipe()
    os.write(writing, program)
    os.close(writing)
    return reading


@contextmanager
def _in_a_container(box: Box, given) -> Iterator[Running]:
    """Bounded by podman, which starts it elsewhere than below the process that asks for it."""
    process = subprocess.Popen(containers.command(box, INNER), stdin=given, cwd="/", **PIPES)
    try:
        yield Running(box, process, watched=False)
    finally:
        process.kill()
        process.wait()
        containers.remove(box)


@contextmanager
def _without_walls(box: Box, given) -> Iterator[Running]:
    """For `--isolation none`: the same job with the same view of the project, as links in a folder that goes again."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        course = Path(folder, "course")
        for outside, inside in box.shown:
            place = course / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(outside)
        work = Path(folder, "work")
        work.mkdir()
        process = subprocess.Popen(INNER, stdin=given, cwd=work, env=walls.environment(str(course), str(work)), **PIPES)
        try:
            yield Running(box, process)
        finally:
            _end_tree(process)


def _end_tree(process: subprocess.Popen) -> None:
    for member in usage.tree(process.pid):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(member.number, signal.SIGKILL)
    process.wait()
