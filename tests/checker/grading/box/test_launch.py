"""Starting and ending a box of each kind: what is run, and what has ended afterwards. No box is needed for it."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.grading.box import cgroups, containers, launch, seccomp, usage, walls
from checker.grading.box.launch import Running, started
from checker.grading.box.limits import Limits
from checker.grading.box.usage import Usage
from checker.grading.box.walls import Isolation, box

LIMITS = Limits(folder=1_000)
BWRAP = Isolation("bwrap", "/usr/bin/bwrap")


class Process:
    """Stands for a process that was started."""

    def __init__(self, *given, **options):
        self.given, self.options, self.ended = given, options, []
        self.pid = 17
        self.handed_over = [os.read(number, 100_000) for number in options.get("pass_fds", ())]

    def kill(self):
        self.ended.append("killed")

    def wait(self):
        self.ended.append("waited for")


@pytest.fixture
def processes(monkeypatch):
    """The processes that were started."""
    made = []
    monkeypatch.setattr(
        launch.subprocess, "Popen", lambda *given, **options: made.append(Process(*given, **options)) or made[-1]
    )
    monkeypatch.setattr(walls, "bubblewrap", lambda box, inner, at: ["bubblewrap", "--a", "wall", "--", box, inner, at])
    monkeypatch.setattr(containers, "command", lambda box, inner: ["container", box, inner])
    return made


PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
INNER = [sys.executable, "-m", "checker.grading.box.inside"]


def test_bubblewrap_gets_the_filter_and_no_environment_and_is_ended(processes, monkeypatch):
    """Catches a box without its filter, one that shows the grader's environment or folder, and one that runs on."""
    monkeypatch.setattr(seccomp, "program", lambda: b"the filter")
    made = box(BWRAP, (), LIMITS)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(KeyError), started(made, "given") as running:
        (process,) = processes
        assert running == Running(made, process, None, True) and not process.ended
        raise KeyError
    assert process.ended == ["killed", "waited for"] and process.handed_over == [b"the filter", b"--a\0wall"]
    ((name, word, walls_at, end, of_box, inner, filter_at),) = process.given
    assert (name, word, end, of_box, inner) == ("bubblewrap", "--args", "--", made, INNER)
    assert process.options == {"stdin": "given", "pass_fds": (filter_at, int(walls_at)), "env": {}, "cwd": "/"} | PIPES
    assert len(os.listdir("/proc/self/fd")) == before, "descriptors are left open"


def test_where_no_filter_is_known_none_is_handed_over(processes, monkeypatch):
    monkeypatch.setattr(seccomp, "program", lambda: None)
    with started(box(BWRAP, (), LIMITS), "given"):
        pass
    assert processes[0].given[0][-1] is None and len(processes[0].options["pass_fds"]) == 1


def test_a_box_that_cannot_be_started_leaves_no_descriptor_open(monkeypatch):
    monkeypatch.setattr(seccomp, "program", lambda: b"the filter")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError), started(box(replace(BWRAP, program="/nowhere"), (), LIMITS), None):
        pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_box_enters_the_cgroup_that_is_made_for_it(processes, monkeypatch):
    """Catches a box beside its cgroup, one of the home's controllers, and files in memory that count as its own."""
    asked = []

    class Made:
        def __enter__(self):
            return cgroups.Cgroup(Path("/its/cgroup"), LIMITS)

        def __exit__(self, *error):
            asked.append("removed")

    monkeypatch.setattr(cgroups, "home", lambda: cgroups.Home(Path("/home"), ("pids", "memory")))
    monkeypatch.setattr(cgroups, "made", lambda *given, **options: asked.append((given, options)) or Made())
    made = box(replace(BWRAP, controllers=("pids",)), (), LIMITS)
    with started(made, "given") as running:
        assert running.cgroup == cgroups.Cgroup(Path("/its/cgroup"), LIMITS)
    at = cgroups.Home(Path("/home"), ("pids",))
    assert asked == [((at, LIMITS), {"on_top": 1_000 + walls.SHARED_MEMORY}), "removed"]
    (command,) = processes[0].given
    assert command[:4] == ["/bin/sh", "-c", cgroups.ENTER, "/its/cgroup"] and command[4] == "bubblewrap"


def test_a_container_is_removed_in_the_end_and_not_watched(processes, monkeypatch):
    """Catches a container that outlives its program, and a limit looked for below a process that has no children."""
    removed = []
    monkeypatch.setattr(containers, "remove", removed.append)
    made = box(Isolation(containers.KIND, "/usr/bin/podman"), (), LIMITS)
    with pytest.raises(KeyError), started(made, "given") as running:
        (process,) = processes
        assert running == Running(made, process, None, False) and not removed
        raise KeyError
    assert process.ended == ["killed", "waited for"] and removed == [made]
    assert process.given == (["container", made, INNER],) and process.options == {"stdin": "given", "cwd": "/"} | PIPES


def test_without_walls_the_view_of_the_project_is_the_same_and_goes_again(monkeypatch, tmp_path):
    """Catches a job that runs in the grader's folder, sees all of the project, or leaves children and files behind."""
    (tmp_path / "a.py").write_text("here")
    made_with = []
    folder_of = tempfile.TemporaryDirectory

    def made_folder(**options):
        made_with.append(options)
        return folder_of(**options)

    monkeypatch.setattr(tempfile, "TemporaryDirectory", made_folder)
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "1")
    program = (
        "import os, pathlib, sys; course = pathlib.Path(os.environ['PYTHONPATH'])\n"
        "print(os.getcwd(), os.environ['HOME'], course, (course / 'shared/x/a.py').read_text(), os.listdir(course),"
        " 'SECRET_OF_THE_GRADER' in os.environ, sys.stdin.read(), os.getsid(0) == os.getpid(), flush=True)\n"
        "child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "import time; time.sleep(60)"
    )
    monkeypatch.setattr(launch, "INNER", [sys.executable, "-S", "-c", program])
    made = box(Isolation("none"), [(tmp_path / "a.py", f"shared/x/{name}.py") for name in "ab"], LIMITS)
    with tempfile.TemporaryFile() as given:
        given.write(b"job")
        given.seek(0)
        with started(made, given) as running:
            words = running.process.stdout.readline().decode().split()
            child = int(running.process.stdout.readline())
            assert running == Running(made, running.process, None, True)
    assert made_with == [{"ignore_cleanup_errors": True}], "a process that is ending may still write there"
    folder = Path(words[0]).parent
    assert words == [
        str(folder / "work"),
        str(folder / "work"),
        str(folder / "course"),
        "here",
        "['shared']",
        "False",
        "job",
        "True",
    ]
    assert running.process.returncode == -9 and not folder.exists()
    for _ in range(200):
        if not Path("/proc", str(child)).exists() or usage.tree(child) == []:
            break
        time.sleep(0.01)
    status = Path("/proc", str(child), "stat")
    assert not status.exists() or status.read_text().split()[2] == "Z"


def test_what_cannot_be_killed_does_not_keep_the_others_alive(monkeypatch):
    """Catches a process that has ended meanwhile, or belongs to somebody else, after which nobody is ended."""
    ended = []

    def kill(number, signal):
        if number in (1, 2):
            raise (ProcessLookupError, PermissionError)[number - 1]
        ended.append((number, signal))

    monkeypatch.setattr(launch.os, "kill", kill)
    monkeypatch.setattr(usage, "tree", lambda number: [SimpleNamespace(number=n) for n in (1, 2, number)])
    process = Process()
    launch._end_tree(process)
    assert ended == [(17, 9)] and process.ended == ["waited for"]


def test_the_limit_that_a_box_is_over_is_told_and_what_it_takes(monkeypatch):
    """Catches a limit that only the kernel kept and nobody hears of, and a container watched by its program's process."""
    taken = Usage(1, 2, 3.0)
    said = ["too large"]
    monkeypatch.setattr(
        usage, "exceeded", lambda number, limits: (said[-1], taken) if (number, limits) == (17, LIMITS) else None
    )
    refused = SimpleNamespace(exceeded=lambda: "refused")
    made = box(BWRAP, (), LIMITS)
    assert Running(made, Process()).exceeded() == ("too large", taken)
    assert Running(made, Process(), refused).exceeded() == ("too large", taken)
    said.append("")
    assert Running(made, Process(), refused).exceeded() == ("refused", taken)
    assert Running(made, Process()).exceeded() == ("", taken) and Running(made, Process()).refused() == ""
    assert Running(made, Process(), refused, watched=False).exceeded() == ("refused", Usage(0, 0, 0.0))
