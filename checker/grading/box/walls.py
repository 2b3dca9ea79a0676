"""The walls of a box: what is visible inside, and the command that builds them.

Inside, the project stands at `/course` and may be read, `/tmp` may be written and lies in memory, there is no network
but the box's own loopback, and nothing is left of the grader's environment. bubblewrap builds this from system calls;
for podman see `containers.py`. *Box*: see CONTRIBUTING: house words.
"""

import itertools
import os
import shutil
import sys
import sysconfig
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from checker.grading.box.limits import Limits

ROOT = Path(__file__).resolve().parents[3]
COURSE = "/course"
WORK = "/tmp/work"
FIRST_UID = 2_000_000  # far above those that a system gives away
USERS = 100  # for the boxes of one process, in turns
NUMBERS = itertools.count()
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/fonts", "/etc/alternatives")
SHARED_MEMORY = 64_000_000  # bytes of /dev/shm
WATCHED = "by watching the tree"
OWN_CGROUP = "by a cgroup of its own"
KINDS = ("bwrap", "podman", "none")


@dataclass(frozen=True)
class Isolation:
    """The walls around a submission.

    kind: one of KINDS.                program: of bwrap or podman; "" for none.
    own_uid: whether a box runs under a user of its own, as root's do.
    counted: whether the system counts the processes of a box by themselves, and refuses what is too many.
    controllers: what a cgroup of its own bounds, of `cgroups.CONTROLLERS`; none without such a cgroup.
    no_cgroup: why there is none.
    """

    kind: str
    program: str = ""
    own_uid: bool = False
    counted: bool = False
    controllers: tuple[str, ...] = ()
    no_cgroup: str = ""

    def described(self) -> str:
        """Its name and its limits, for the report."""
        if self.kind == "none":
            return "none: submissions ran with all rights of whoever started this"
        if self.kind != "bwrap":
            return f"{self.kind}, which bounds memory and processes"
        memory = OWN_CGROUP if "memory" in self.controllers else WATCHED
        processes = "by the system" if self.counted else WATCHED
        if "pids" in self.controllers:
            processes = OWN_CGROUP
        why = f"; no cgroup, because {self.no_cgroup}" if self.no_cgroup else ""
        return f"bwrap, memory bounded {memory}, processes {processes}{why}"


@dataclass(frozen=True)
class Box:
    """One box: the isolation, what of the project it shows, how much it may take.

    shown: pairs (file or folder outside, where it stands below the project inside).
    name: of its container.     number: counts the boxes of this process.
    """

    isolation: Isolation
    shown: tuple[tuple[Path, str], ...]
    limits: Limits
    name: str = ""
    number: int = 0

    @property
    def uid(self) -> int | None:
        """The user that the box runs as; None for the one that starts it.

        Another one for each box: what is left of a fork bomb for a moment counts against the limit of its user.
        """
        if not self.isolation.own_uid:
            return None
        return FIRST_UID + os.getpid() * USERS + self.number % USERS


def box(isolation: Isolation, shown: Iterable[tuple[Path, str]], limits: Limits) -> Box:
    """A box with a name of its own."""
    return Box(isolation, tuple(shown), limits, f"checker-{uuid.uuid4().hex[:12]}", next(NUMBERS))


def environment(course: str, home: str) -> dict[str, str]:
    """All of the environment that a submission sees."""
    return {
        "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
        "PYTHONPATH": course,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "ignore",
        "HOME": home,
        "TMPDIR": home,
        "USER": "student",
        "LOGNAME": "student",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def visible(box: Box) -> list[tuple[str, str]]:
    """(outside, inside) of all that is mounted: the system's programs, Python, and what is shown of the project."""
    found = [(path, path) for path in SYSTEM if os.path.exists(path) and not os.path.islink(path)]
    for prefix in dict.fromkeys((sys.base_prefix, sys.prefix)):
        if not prefix.startswith("/usr/") and prefix != "/usr":
            found.append((prefix, prefix))
    found.extend((str(outside), f"{COURSE}/{inside}") for outside, inside in box.shown)
    return found


def covered() -> list[str]:
    """Folders inside that are covered by empty ones: the project, where it was installed as a package as well."""
    packages = [Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")]
    folders = [folder / name for folder in packages for name in ("shared", "checker")]
    return list(dict.fromkeys(str(folder) for folder in folders if folder.is_dir()))


def bubblewrap(box: Box, inner: list[str], seccomp: int | None) -> list[str]:
    """The command that builds the box and runs `inner` in it. `seccomp` is the descriptor bwrap reads its filter
    from.
    """
    alone = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if not box.isolation.own_uid:
        # The course's own program is then the first process, which nothing inside can kill; bwrap's would stand there with
        # the pipe of results open to all, since all run as one user.
        alone += ["--unshare-user", "--disable-userns", "--as-pid-1"]
    arguments = [box.isolation.program, *alone, "--die-with-parent", "--new-session", "--hostname", "box", "--clearenv"]
    for name, value in environment(COURSE, "/tmp").items():
        arguments += ["--setenv", name, value]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    for size, folder in ((SHARED_MEMORY, "/dev/shm"), (box.limits.folder, "/tmp")):
        arguments += ["--perms", "1777", "--size", str(size), "--tmpfs", folder]
    for path in SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
    mounts = visible(box)
    for folder in _parents([inside for _, inside in mounts]):
        arguments += ["--perms", "0755", "--dir", folder]  # else for root alone
    for outside, inside in mounts:
        arguments += ["--ro-bind", outside, inside]
    for folder in covered():
        arguments += ["--size", "4096", "--tmpfs", folder]
    arguments += ["--perms", "0777", "--dir", WORK, "--chdir", WORK]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/"]  # both are in memory too, without a limit
    if seccomp is not None:
        arguments += ["--seccomp", str(seccomp)]
    return [*arguments, "--", *inner]


def _parents(paths: list[str]) -> list[str]:
    """The folders in which the paths stand, from the top down."""
    above = {str(folder) for path in paths for folder in PurePosixPath(path).parents}
    return sorted(above - {"/"})


def found_program(kind: str) -> str:
    """The path of the program of a kind of isolation; "" where it is not installed."""
    return shutil.which(kind) or ""
