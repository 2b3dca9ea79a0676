"""A cgroup for each box: on a fake tree, and on the real one where this machine gives the grader one.

The fake tree is folders of plain files. It takes whatever is written; that a kernel acts on it, only the real one shows.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.attacks import ATTACKS, LIMITS, held
from checker.grading.box import cgroups
from checker.grading.box.cgroups import Home, NoCgroup, home, made
from checker.grading.box.isolation import run
from checker.grading.box.selection import with_a_cgroup
from checker.grading.box.walls import Isolation, box

FILES = ("cgroup.procs", "cgroup.type", "cgroup.subtree_control", "memory.swap.max")


REMOVE = os.rmdir


def with_files_removed(folder):
    """As the kernel removes a cgroup, in which there are always files."""
    for path in Path(folder).iterdir():
        path.unlink()
    REMOVE(folder)


@pytest.fixture
def tree(monkeypatch, tmp_path):
    """The cgroup of an ordinary user's grader in a fake tree, which has both controllers and nobody else in it."""
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    mounts = f"29 23 0:25 / /elsewhere rw - tmpfs cgroup2 rw\n30 23 0:26 / {mounted} rw - cgroup2 none rw - odd\n"
    about = {"mountinfo": mounts, "cgroup": "1:name=x:/y\n0::/scope\n"}
    for name, text in about.items():
        (tmp_path / name).write_text(text)
    make = os.mkdir

    def with_files(folder, *mode):
        make(folder, *mode)
        if mounted in Path(folder).parents:
            for name in FILES:
                Path(folder, name).touch()

    monkeypatch.setattr(os, "mkdir", with_files)
    monkeypatch.setattr(os, "rmdir", with_files_removed)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert Path("/proc/self") == cgroups.SELF
    monkeypatch.setattr(cgroups, "SELF", tmp_path)
    own = mounted / "scope"
    own.mkdir()
    (own / "cgroup.controllers").write_text("cpu memory pids\n")
    (own / "cgroup.procs").write_text(f"{os.getpid()}\n")
    return own


def test_a_box_gets_its_limits_and_its_files_on_top(tree):
    """Catches a box of 3 GB that is ended for the files in its private folder, and one that swaps instead."""
    with made(Home(tree, ("pids", "memory")), LIMITS, on_top=7) as cgroup:
        written = {path.name: path.read_text() for path in cgroup.folder.iterdir()}
    assert written["pids.max"] == str(LIMITS.processes)
    assert written["memory.max"] == str(LIMITS.memory + 7)
    assert written["memory.swap.max"] == "0"
    assert written["memory.oom.group"] == "1"
    assert re.fullmatch(f"checker-box-{os.getpid()}-[0-9a-f]{{12}}", cgroup.folder.name)
    with made(Home(tree, ("pids", "memory")), LIMITS) as cgroup:
        assert (cgroup.folder / "memory.max").read_text() == str(LIMITS.memory)


def test_without_the_controller_of_memory_processes_are_bounded_alone(tree):
    """Catches a grader that fails where only `pids` is handed down, as in a scope without accounting."""
    with made(Home(tree, ("pids",)), LIMITS) as cgroup:
        assert (cgroup.folder / "pids.max").exists() and not (cgroup.folder / "memory.max").exists()


def test_what_is_in_it_is_killed_before_it_is_removed(tree, monkeypatch):
    """Catches a cgroup that outlives its box, and an end that waits for processes which nobody has ended."""
    killed = []

    def remove(folder):
        killed.append(Path(folder, "cgroup.kill").read_text())
        with_files_removed(folder)

    monkeypatch.setattr(os, "rmdir", remove)
    with pytest.raises(ZeroDivisionError), made(Home(tree, ("pids",)), LIMITS) as cgroup:
        1 / 0  # noqa: B018
    assert killed == ["1"] and not cgroup.folder.exists()


@pytest.mark.parametrize(
    "file, text, sentence",
    [
        ("pids.events", "max 0\n", ""),
        ("pids.events", "max 2\n", "it started more than 40 processes and threads"),
        ("memory.events", "low 0\nmax 9\noom 0\noom_kill 1\n", ""),
        (
            "memory.events",
            "low 0\nmax 9\noom 1\noom_kill 1\n",
            "its processes took more than 300 MB of memory together",
        ),
    ],
)
def test_the_limit_that_the_kernel_kept_is_named(tree, file, text, sentence):
    """Catches a fork bomb that "took too long", and a box that the machine's own want of memory ended, blamed for it."""
    with made(Home(tree, ("pids", "memory")), LIMITS) as cgroup:
        (cgroup.folder / file).write_text(text)
        assert cgroup.exceeded() == sentence


def test_the_grader_moves_into_a_leaf_before_controllers_are_handed_down(tree):
    """Catches "Device or resource busy": a cgroup with processes of its own may hand nothing down."""
    assert cgroups._handed_down(tree) == ("pids", "memory")
    assert (tree / "checker-grader" / "cgroup.procs").read_text() == "0"
    assert cgroups._handed_down(tree) == ("pids", "memory"), "by another grader, in the same leaf"


def test_at_the_top_nobody_moves(tree):
    """Catches root's grader that takes itself out of its session where the rule does not hold."""
    (tree / "cgroup.type").unlink()
    assert cgroups._handed_down(tree) == ("pids", "memory")
    assert not (tree / cgroups.LEAF).exists()


def test_a_worker_makes_boxes_beside_the_leaf_it_was_born_in(tree, monkeypatch):
    """Catches leaf below leaf below leaf: a worker is where its grader has moved."""
    (cgroups.SELF / "cgroup").write_text(f"0::/scope/{cgroups.LEAF}\n")
    assert cgroups._candidate() == tree


def test_other_processes_are_left_where_they_are(tree):
    """Catches a grader that moves the shell it was started from, or fails without saying how to start it."""
    (tree / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    with pytest.raises(NoCgroup, match="other processes .*systemd-run --user --scope -p Delegate=yes"):
        cgroups._handed_down(tree)
    assert not (tree / cgroups.LEAF).exists()


@pytest.mark.parametrize(
    "spoil, said",
    [
        (lambda tree: (tree / "cgroup.controllers").write_text("cpu"), "no controller of processes"),
        (lambda tree: (cgroups.SELF / "mountinfo").write_text(""), "no cgroups of version 2 are mounted"),
        (lambda tree: (cgroups.SELF / "cgroup").write_text("1:pids:/\n"), "in no cgroup of version 2"),
        (lambda tree: None, "bounded nothing"),
    ],
    ids=["no controller", "not mounted", "version 1", "a trial that nobody refuses anything"],
)
def test_why_there_is_none_is_said_and_watching_stays(tree, spoil, said):
    """Catches a promise of a limit that is only a file; the last row is a tree in which nothing counts."""
    spoil(tree)
    home.cache_clear()
    isolation = with_a_cgroup(Isolation("bwrap", "/usr/bin/bwrap"))
    assert isolation.controllers == ()
    assert said in isolation.no_cgroup
    assert "processes by watching the tree; no cgroup, because" in isolation.described()


def test_what_killed_graders_left_is_removed(tree):
    """Catches a folder more for each grader that was ended with kill -9, and a sweep that takes a living one's."""
    dead = tree / f"{cgroups.BOX}-{2**22 + 1}-a"  # above all numbers of processes
    living = tree / f"{cgroups.BOX}-{os.getpid()}-a"
    dead.mkdir()
    living.mkdir()
    cgroups._sweep(tree)
    assert not dead.exists() and living.exists()


def test_a_box_is_in_its_cgroup_before_it_begins_and_what_it_was_refused_is_told(tree, tmp_path, monkeypatch):
    """Catches a box that starts outside and is moved, with a moment to fork in, and one that ended before a look."""
    program = tmp_path / "bwrap"
    inside = f"{tree}/{cgroups.BOX}-*"
    program.write_text(
        f"#!/bin/sh\necho '{{\"procs\": \"'$(cat {inside}/cgroup.procs)'\"}}'\ncd {inside} && echo max 3 > pids.events\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(cgroups, "home", lambda: Home(tree, ("pids", "memory")))
    outcome = run(box(Isolation("bwrap", str(program), controllers=("pids",)), (), LIMITS), {})
    assert outcome.records == ({"procs": "0"},)
    assert outcome.stopped == "it started more than 40 processes and threads"
    assert not list(tree.glob(f"{cgroups.BOX}-*"))


@pytest.fixture
def tried(monkeypatch):
    """Grade with this answer of the trial: whether it was refused a child, and what it said. The commands are noted."""
    commands = []

    def answers(refused, said=""):
        home.cache_clear()

        def run(command, **options):
            folder = Path(command[3])
            commands.append((command, options, (folder / "pids.max").read_text()))
            (folder / "pids.events").write_text(f"max {int(refused)}\n")
            return SimpleNamespace(stderr=said)

        monkeypatch.setattr(subprocess, "run", run)
        return commands

    yield answers
    home.cache_clear()


def test_a_place_for_cgroups_is_one_that_refuses_a_second_process(tree, tried):
    """Catches a trial that starts nothing, whose silence is taken for a refusal, or that is refused nothing."""
    commands = tried(True)
    assert home() == Home(tree, ("pids", "memory")) and home() is home()
    ((command, options, most),) = commands
    assert most == "1" and options == {"capture_output": True, "text": True, "check": False}
    enter = ["/bin/sh", "-c", cgroups.ENTER]
    assert command[:3] == enter and command[4:] == [sys.executable, "-S", "-c", "import os; os.fork()"]
    assert not list(tree.glob("checker-box-*"))
    for said, words in ((" no fork \n", "no fork"), ("", "it said nothing")):
        tried(False, said)
        with pytest.raises(NoCgroup) as raised:
            home()
        assert str(raised.value) == f"one that was made for a trial bounded nothing ({words})"


def test_what_the_system_refuses_is_said(tree, tried, monkeypatch):
    tried(True)

    def refused(folder):
        raise PermissionError(13, "Permission denied", "/its/folder")

    monkeypatch.setattr(cgroups, "_handed_down", refused)
    with pytest.raises(NoCgroup) as raised:
        home()
    assert str(raised.value) == "the system refuses it (Permission denied: /its/folder)"


def test_root_makes_cgroups_at_the_top_and_anybody_else_below_their_own(tree, monkeypatch):
    """Catches a user's grader that tries the top, and root's in a container, whose top is no real one."""
    top = tree.parent
    assert cgroups._candidate() == tree
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert cgroups._candidate() == top
    (top / "cgroup.type").touch()
    assert cgroups._candidate() == tree


def test_a_cgroup_that_was_not_delegated_is_said(tree, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, how: (path, how) != (tree, os.W_OK))
    with pytest.raises(NoCgroup) as raised:
        cgroups._handed_down(tree)
    start = "systemd-run --user --scope -p Delegate=yes checker grade ..."
    assert str(raised.value) == f"{tree} was not delegated to you; in one that is, you start it by `{start}`"


def test_what_is_asked_for_is_handed_down_in_the_kernels_words(tree, monkeypatch):
    """Catches words that the kernel does not know, and a controller that is promised and was refused."""
    asked = []
    write = Path.write_text

    def noted(path, text):
        if path.name == "cgroup.subtree_control":
            asked.append(text)
            if text in refused:
                raise OSError
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", noted)
    refused = ()
    assert cgroups._handed_down(tree) == ("pids", "memory") and asked == ["+pids", "+memory"]
    refused = ("+memory",)
    assert cgroups._handed_down(tree) == ("pids",)
    refused = ("+pids",)
    with pytest.raises(OSError):
        cgroups._handed_down(tree)


def test_who_hands_pids_down_already_moves_nobody(tree):
    """Catches a grader that leaves a cgroup which has other processes, though it need not."""
    (tree / "cgroup.subtree_control").write_text("cpu pids")
    (tree / "cgroup.procs").write_text("1\n2\n")
    assert cgroups._handed_down(tree) == ("pids", "memory")
    assert not (tree / "checker-grader").exists()


def test_what_cannot_be_swept_stays(tree, monkeypatch):
    left = tree / f"checker-box-{2**22 + 1}-a"
    left.mkdir()

    def busy(folder):
        raise OSError

    monkeypatch.setattr(os, "rmdir", busy)
    cgroups._sweep(tree)
    assert left.exists()


class Clock:
    """A clock that goes on by each sleep alone."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize("busy", [0, 3, 10**9])
def test_a_cgroup_is_tried_until_it_is_gone_or_patience_is_over(busy, tree, monkeypatch):
    """Catches a grader that waits for ever for a process that cannot die, or not at all for one that does."""
    clock = Clock()
    tries = []

    def remove(folder):
        tries.append(folder)
        if len(tries) <= busy:
            raise OSError
        with_files_removed(folder)

    monkeypatch.setattr(os, "rmdir", remove)
    monkeypatch.setattr(cgroups, "time", clock)
    folder = tree / "box"
    folder.mkdir()
    cgroups._remove(folder)
    if busy < 10:
        assert len(tries) == busy + 1 and len(clock.slept) == busy and not folder.exists()
    else:
        assert 4 < clock.now < 7 and folder.exists()
    assert all(seconds < 0.1 for seconds in clock.slept)


def test_a_kernel_that_kills_no_cgroup_is_borne(tree, monkeypatch):
    folder = tree / "box"
    folder.mkdir()
    write = Path.write_text

    def refuses(path, text):
        if path.name == "cgroup.kill":
            raise OSError
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", refuses)
    cgroups._remove(folder)
    assert not folder.exists()


def test_those_that_were_killed_for_memory_are_counted(tree):
    with made(Home(tree, ("pids", "memory")), LIMITS) as cgroup:
        assert cgroup.killed_for_memory() == 0
        (cgroup.folder / "memory.events").write_text("low 0\noom 1\n")
        assert cgroup.killed_for_memory() == 0
        (cgroup.folder / "memory.events").write_text("low 0\noom_kill 3\n")
        assert cgroup.killed_for_memory() == 3


@pytest.fixture
def delegated(isolation):
    """The isolation of this machine, where it has cgroups."""
    if not isolation.controllers:
        pytest.skip(f"no cgroup for a box here: {isolation.no_cgroup}")
    return isolation


@pytest.mark.parametrize("name", ["fork bomb", "a child that stays"])
def test_the_real_one_holds_them_and_is_gone_afterwards(name, delegated):
    """Catches a box that runs beside its cgroup, and one whose cgroup stays."""
    attack = next(attack for attack in ATTACKS if attack.name == name)
    seen = held(attack, delegated)
    assert seen.outside == ""
    assert name != "fork bomb" or "more than 40 processes" in seen.ended
    assert list(home().folder.glob(f"{cgroups.BOX}-{os.getpid()}-*")) == []
