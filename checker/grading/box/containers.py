"""podman: the command that starts a box with it, and the image that it starts from.

What is visible inside is shown from outside, as with bubblewrap, so the image is empty but for places to put it at. It
is made here, and no registry is asked for it.
"""

import hashlib
import io
import os
import resource
import subprocess
import tarfile
from functools import cache

from checker.grading.box.walls import COURSE, SHARED_MEMORY, SYSTEM, Box, covered, environment, visible

KIND = "podman"
FOLDERS = ("course", "dev", "etc", "proc", "run", "sys", "tmp", "usr", "var")
NOBODY = "65534:65534"
MOMENT = 300  # seconds for what only asks or removes, on the slowest of machines
PROCESSES = 30_000  # of all boxes together, which are one user; podman keeps no more than 32768 for itself
# What it does of its own accord that no box needs: further folders in memory that can be written, the grader's proxies in
# the environment, copies of what a folder covers.
AGAINST_DEFAULTS = ["--read-only-tmpfs=false", "--http-proxy=false"]
NOT_COPIED = "notmpcopyup"


class NoImage(Exception):
    """The image cannot be made; the message is the program's own."""


def command(box: Box, inner: list[str]) -> list[str]:
    """The command that builds the box and runs the command `inner` in it."""
    limits = box.limits
    arguments = [box.isolation.program, "run", "--rm", "--interactive", "--name", box.name, "--hostname", "box"]
    arguments += ["--pull", "never", "--network", "none", "--log-driver", "none", "--stop-timeout", "0"]
    arguments += ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", NOBODY]
    arguments += ["--memory", str(limits.memory), "--memory-swap", str(limits.memory)]
    arguments += ["--pids-limit", str(limits.processes), "--shm-size", str(SHARED_MEMORY)]
    arguments += ["--ulimit", f"nofile={limits.files}:{limits.files}"]
    # By itself it asks for more than root may give where root has not every right.
    arguments += ["--ulimit", f"nproc={_processes()}:{_processes()}"]
    arguments += ["--tmpfs", f"/tmp:rw,exec,mode=1777,size={limits.folder},{NOT_COPIED}", "--workdir", "/tmp"]
    arguments += AGAINST_DEFAULTS
    for name, value in environment(COURSE, "/tmp").items():
        arguments += ["--env", f"{name}={value}"]
    for outside, inside in visible(box):
        arguments += ["--volume", f"{outside}:{inside}:ro"]
    for folder in covered():
        arguments += ["--tmpfs", f"{folder}:ro,size=4096,{NOT_COPIED}"]
    return [*arguments, made_image(box.isolation.program), *inner]


def _processes() -> int:
    """The number of processes that the user of all boxes may have: no more than this process may."""
    own = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return PROCESSES if own == resource.RLIM_INFINITY else min(own, PROCESSES)


def remove(box: Box) -> None:
    """End what is left of a box, whose program was killed."""
    arguments = [box.isolation.program, "rm", "--force", box.name]
    subprocess.run(arguments, capture_output=True, check=False, timeout=MOMENT)


@cache
def made_image(program: str) -> str:
    """The name of the image, after making it where it is not there yet.

    Raises:
        NoImage: the program refuses it.
    """
    content = image()
    name = f"localhost/checker-box:{hashlib.sha256(content).hexdigest()[:12]}"
    try:
        found = subprocess.run([program, "image", "inspect", name], capture_output=True, check=False, timeout=MOMENT)
        if found.returncode != 0:
            arguments = [program, "import", "-", name]
            subprocess.run(arguments, input=content, capture_output=True, check=True, timeout=MOMENT)
    except subprocess.CalledProcessError as error:
        raise NoImage(error.stderr.decode(errors="replace").strip() or "it said nothing") from error
    except subprocess.TimeoutExpired as error:
        raise NoImage(f"it did not answer within {MOMENT} s") from error
    return name


def image() -> bytes:
    """A tar file of empty folders, and of the links at the top of this system (/bin to usr/bin, and so on)."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name in FOLDERS:
            entry = tarfile.TarInfo(name)
            entry.type = tarfile.DIRTYPE
            entry.mode = 0o755
            archive.addfile(entry)
        for path in filter(os.path.islink, SYSTEM):
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.type = tarfile.SYMTYPE
            entry.linkname = os.readlink(path)
            archive.addfile(entry)
    return written.getvalue()
