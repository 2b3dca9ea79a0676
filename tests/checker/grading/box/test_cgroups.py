"""A cgroup for each box: on a fake tree, and on the real one where this machine gives the grader one.

The fake tree is folders of plain files. It takes whatever is written; that a kernel acts on it, only the real one shows.
"""

import os
from pathlib import Path

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
    about = {"mountinfo": f"30 23 0:26 / {mounted} rw - cgroup2 cgroup2 rw\n", "cgroup": "1:name=x:/y\n0::/scope\n"}
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
    assert (tree / cgroups.LEAF / "cgroup.procs").read_text() == "0"


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
