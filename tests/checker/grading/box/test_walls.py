"""The walls of a box: what is seen inside, and how they are named in the report."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from checker.grading.box import walls
from checker.grading.box.limits import Limits
from checker.grading.box.walls import Isolation, box

BWRAP = Isolation("bwrap", "/usr/bin/bwrap")
NAMED = {
    Isolation("none"): "none: submissions ran with all rights of whoever started this",
    Isolation("podman", "/usr/bin/podman"): "podman, which bounds memory and processes",
    BWRAP: "bwrap, memory bounded by watching the tree, processes by watching the tree",
    replace(BWRAP, counted=True): "bwrap, memory bounded by watching the tree, processes by the system",
    replace(BWRAP, counted=True, controllers=("pids",)): (
        "bwrap, memory bounded by watching the tree, processes by a cgroup of its own"
    ),
    replace(BWRAP, controllers=("memory",)): (
        "bwrap, memory bounded by a cgroup of its own, processes by watching the tree"
    ),
    replace(BWRAP, no_cgroup="it is not mounted"): (
        "bwrap, memory bounded by watching the tree, processes by watching the tree; no cgroup, because it is not mounted"
    ),
}


@pytest.mark.parametrize("isolation", NAMED, ids=NAMED.get)
def test_the_report_names_what_bounds_a_box(isolation):
    """Catches a limit that is promised by the kernel and kept by looking, or the other way round."""
    assert isolation.described() == NAMED[isolation]


def test_the_environment_inside_is_whole_and_has_no_other_names():
    """Catches a name that no program reads, so that a box asks the hub, or runs a thread for each core."""
    assert walls.environment("/course", "/home") == {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "PYTHONPATH": "/course",
        "HOME": "/home",
        "TMPDIR": "/home",
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }


def test_boxes_of_root_have_users_and_all_have_names_of_their_own(monkeypatch):
    """Catches two boxes that count against one limit, or are removed by one name."""
    monkeypatch.setattr(os, "getpid", lambda: 3)
    one, other = (box(replace(BWRAP, own_uid=True), (), Limits()) for _ in range(2))
    assert one.name != other.name and one.name.startswith("checker-") and len(one.name) == len("checker-") + 12
    assert other.number == one.number + 1
    assert replace(one, number=207).uid == 2_000_000 + 3 * 100 + 7
    assert box(BWRAP, (), Limits()).uid is None


def test_kinds_and_folders_are_spelt_as_the_system_spells_them():
    """Catches a kind that is never found, a worse one tried before a better one, and a folder that no system has."""
    assert walls.KINDS == ("bwrap", "podman", "none")
    programs = {"/usr", "/bin", "/lib", "/lib64", "/etc/alternatives"}
    assert set(walls.SYSTEM) == programs | {"/etc/ld.so.cache", "/etc/fonts"}


def option(command, name):
    """The words that follow an option, for each time that it is there."""
    return [command[place + 1 : place + 3] for place, word in enumerate(command) if word == name]


@pytest.mark.parametrize("own_uid", [True, False])
def test_the_command_has_every_wall(own_uid):
    """Catches a wall that is left out, where the trial box of the machine at hand happens to hold without it."""
    made = box(replace(BWRAP, own_uid=own_uid), ((Path("/x/shared/kl.py"), "shared/kl.py"),), Limits(folder=7_000))
    command = walls.bubblewrap(made, ["the", "job"], 5)
    for wall in ("ipc", "pid", "net", "uts", "cgroup-try"):
        assert f"--unshare-{wall}" in command
    for word in ("--unshare-user", "--disable-userns", "--as-pid-1"):
        assert (word in command) is not own_uid
    for word in ("--die-with-parent", "--new-session", "--clearenv"):
        assert word in command
    assert command[0] == "/usr/bin/bwrap" and command[-5:] == ["--seccomp", "5", "--", "the", "job"]
    joined = " ".join(command)
    for words in (
        "--hostname box",
        "--setenv HOME /tmp",
        "--proc /proc --dev /dev",
        "--perms 1777 --size 64000000 --tmpfs /dev/shm",
        "--perms 1777 --size 7000 --tmpfs /tmp",
        "--perms 0755 --dir /course --perms 0755 --dir /course/shared",
        "--ro-bind /x/shared/kl.py /course/shared/kl.py",
        "--perms 0777 --dir /tmp/work --chdir /tmp/work --remount-ro /dev --remount-ro /",
    ):
        assert f" {words} " in joined
    assert ["/usr", "/usr"] in option(command, "--ro-bind")
    links = [[os.readlink(path), path] for path in walls.SYSTEM if os.path.islink(path)]
    assert option(command, "--symlink") == links
    assert "--seccomp" not in walls.bubblewrap(made, ["the", "job"], None)


def test_folders_above_what_is_shown_are_made_once_from_the_top_down():
    """Catches a folder below one that is not there yet, and the root made anew."""
    assert walls._parents(["/a/b/c", "/a/d", "/e"]) == ["/a", "/a/b"]


def test_the_course_as_an_installed_package_is_covered(monkeypatch, tmp_path):
    """Catches solutions in `site-packages`, where the course was installed as a package."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "checker").mkdir()
    monkeypatch.setattr(walls.sysconfig, "get_path", lambda kind: {"purelib": tmp_path, "platlib": tmp_path}[kind])
    assert walls.covered() == [f"{tmp_path}/shared", f"{tmp_path}/checker"]
    command = walls.bubblewrap(box(BWRAP, (), Limits()), [], None)
    assert f"--size 4096 --tmpfs {tmp_path}/shared --size 4096 --tmpfs {tmp_path}/checker" in " ".join(command)


def test_a_program_that_is_not_there_has_no_path():
    """Catches None where a path is joined to a command."""
    assert walls.found_program("no-such-program") == ""
