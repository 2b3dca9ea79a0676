"""Boxes: what they let in and out, which there are, and how they end."""

import os
import platform
import signal
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.attacks import ATTACKS, LIMITS, held, job
from checker.grading.box import containers, launch, seccomp, selection, usage, walls
from checker.grading.box.inside.children import Bounds, in_a_child
from checker.grading.box.isolation import run
from checker.grading.box.limits import Limits
from checker.grading.box.selection import NoIsolation, choose
from checker.grading.box.walls import Isolation, box

NONE = Isolation("none")


def in_box(program, isolation=NONE, **limits):
    return run(box(isolation, selection.PROJECT, replace(LIMITS, **limits)), job(program, 10))


def test_results_are_bounded(isolation):
    """Catches a grader that reads without end what a submission sends."""
    sending = "import os, stat\npipes = [n for n in range(99) if os.path.exists(f'/proc/self/fd/{n}') and stat.S_ISFIFO(os.fstat(n).st_mode)]\n"
    outcome = in_box(f"{sending}while True: os.write(pipes[0], b'y' * 1000 + b'\\n')", isolation, result=1_000_000)
    assert [record["ended"] for record in outcome.records] == ["it sent more than 1 MB of outputs"]


def test_a_box_of_bubblewrap_takes_nothing_of_the_environment_it_is_started_with(isolation):
    """Catches `--clearenv` left out: nothing shows it as long as the grader starts boxes with no environment itself."""
    if isolation.kind != "bwrap":
        pytest.skip("bubblewrap is not installed: this is about its arguments")
    command = walls.bubblewrap(box(isolation, selection.PROJECT, LIMITS), ["/usr/bin/env"], None)
    shown = subprocess.run(command, env={selection.SECRET: "1"}, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "TMPDIR=" in shown and selection.SECRET not in shown


def test_the_first_process_of_a_box_names_no_place_of_this_machine(isolation, tmp_path):
    """Catches the grader's folders, which its user's name may stand in, read from the command that built the box."""
    (tmp_path / "shown").write_text("")
    made = replace(box(isolation, selection.PROJECT, LIMITS), shown=(*selection.PROJECT, (tmp_path / "shown", "shown")))
    with launch.started(made, subprocess.PIPE) as running:
        while not (seen := Path(f"/proc/{running.process.pid}/cmdline").read_bytes().decode()):
            assert running.process.poll() is None  # the kernel shows the command a moment after it has begun
        running.process.stdin.close()
    assert str(tmp_path) not in seen


def test_wall_time_ends_the_box_and_all_in_it(isolation):
    """Catches a limit that the first process keeps and its children do not."""
    outcome = in_box("import os, time\nos.fork()\ntime.sleep(100)", isolation, wall=1.0)
    assert outcome.stopped == "it took more than 1 s"


AFTER_ITS_FIRST_THREAD = """
import ctypes, os, threading, time
def hold():
    time.sleep(0.3)
    kept = bytearray(600 * 10**6)
    time.sleep(3)
    os._exit(0)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(60, 0)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of this machine's system calls are not known")
def test_memory_that_a_process_takes_once_its_first_thread_ended_is_seen():
    """Catches a process that is shown as ended, with no memory, while its other threads fill the machine's."""
    assert "of memory together" in in_box(AFTER_ITS_FIRST_THREAD, memory=300_000_000, wall=60).stopped


def test_a_process_that_has_just_ended_has_no_memory():
    """Catches a limit that ends an innocent notebook because a worker that ended while it was looked at counts whole."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert usage._proportional(usage.Process(ended.pid, 1, 1, 130_000_000, 0.0)) == 0


def test_memory_of_a_tree_counts_shared_pages_once():
    """Catches a limit that ends an innocent notebook because its forked workers share one large array."""
    program = "import os, time\nkept = bytearray(120 * 10**6)\nos.fork(); os.fork()\ntime.sleep(1)"
    assert in_box(program, memory=300_000_000, wall=60).stopped == ""


def test_a_limit_of_nothing_is_refused():
    """Catches limits that end every box, or none."""
    with pytest.raises(ValueError, match="`wall` is 0"):
        Limits(wall=0)


def test_isolation_is_what_a_box_shows_not_what_is_installed(monkeypatch, tmp_path):
    """Catches a probe that takes a program for a wall because its file is there."""
    pretender = tmp_path / "bwrap"
    pretender.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    pretender.chmod(0o755)
    monkeypatch.setattr(selection, "found_program", lambda kind: str(pretender) if kind == "bwrap" else "")
    with pytest.raises(NoIsolation, match="setting up uid map: Permission denied") as refused:
        choose()
    assert "--isolation none" in str(refused.value)


@pytest.mark.slow
def test_a_real_container_holds():
    """Catches an option that the program itself does not take, which a stand-in for it cannot show."""
    try:
        isolation = choose(containers.KIND)
    except NoIsolation as error:
        pytest.skip(f"no such container here: {error}")
    for attack in ATTACKS:
        if attack.name in ("read the grader's environment", "network", "fork bomb", "memory in three processes"):
            seen = held(attack, isolation)
            assert (seen.got, seen.outside) == ("", "")


def test_the_filter_refuses_by_number_and_allows_the_rest():
    """Catches a jump in the filter that is off by one, by running it on a small machine written after bpf(4)."""
    program = seccomp.program()
    if program is None:
        pytest.skip("the numbers of this machine's system calls are not known")
    column, architecture = seccomp.ARCHITECTURES[os.uname().machine]
    assert all(_verdict(program, calls[column], architecture) == seccomp.REFUSE for calls in seccomp.REFUSED.values())
    clone = seccomp.CLONE[column]
    assert _verdict(program, clone, architecture, argument=0x10000000) == seccomp.REFUSE
    assert _verdict(program, clone, architecture, argument=17) == seccomp.ALLOW
    assert _verdict(program, 0, architecture) == seccomp.ALLOW
    assert _verdict(program, 0x40000000 + 1, architecture) == seccomp.REFUSE
    assert _verdict(program, 0, architecture ^ 1) == seccomp.KILL


def test_a_container_takes_the_filter_for_itself():
    """Catches namespaces and mounts inside: podman's own filter allows them, and memfd_create as well."""
    if seccomp.program() is None:
        pytest.skip("the numbers of this machine's system calls are not known")
    program = """
import ctypes, sys
from checker.grading.box.inside.__main__ import _refuse
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, as --security-opt no-new-privileges
_refuse(bytes.fromhex(sys.argv[1]))
print(libc.unshare(0x10000000), ctypes.get_errno())
"""
    arguments = [sys.executable, "-c", program, seccomp.program().hex()]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=True, cwd=walls.ROOT)
    assert ended.stdout.split() == ["-1", str(seccomp.ENOSYS)]


CROWD = """
import threading
over = threading.Event()
started = 0
try:
    while started < 1000:
        threading.Thread(target=over.wait, daemon=True).start()
        started += 1
except RuntimeError:
    pass
over.set()
raise RuntimeError(f"got: {started}")
"""


def test_not_even_for_a_moment_are_there_more_processes_than_a_box_may_have(isolation):
    """Catches a fork bomb of an ordinary user's box that has a thousand processes until somebody looks."""
    if not isolation.counted and not isolation.controllers:
        pytest.skip("the system does not count the processes of a box here")
    outcome = in_box(CROWD, isolation)
    (record,) = outcome.records or [{"ended": "got: 0"}]  # ended by its cgroup
    assert int(record["ended"].partition("got: ")[2]) < LIMITS.processes


def test_a_box_that_the_system_counts_bounds_itself():
    """Catches a count that is promised in the report and set nowhere: `ulimit -u` inside."""
    counted = in_box(LIMIT_OF_PROCESSES, replace(NONE, counted=True)).records
    free = in_box(LIMIT_OF_PROCESSES).records
    assert counted[0]["ended"].endswith(f"got: {LIMITS.processes}")
    assert not free[0]["ended"].endswith(f"got: {LIMITS.processes}")


LIMIT_OF_PROCESSES = """
import resource
raise RuntimeError(f"got: {resource.getrlimit(resource.RLIMIT_NPROC)[0]}")
"""


def _verdict(program: bytes, number: int, architecture: int, argument: int = 0) -> int:
    """The value that a classic BPF program returns for a system call."""
    data = struct.pack("=IIQQ", number, architecture, 0, argument)
    steps = list(struct.iter_unpack("=HBBI", program))
    place = 0
    accumulator = 0
    while True:
        code, if_true, if_false, k = steps[place]
        place += 1
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, k)[0]
        elif code == 0x06:
            return k
        else:
            holds = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}[code]
            place += if_true if holds else if_false


def test_a_tree_holds_the_children_of_children():
    """Catches a watch that counts the first generation alone."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild == 0:
            os.write(writing, b"1")
            signal.pause()
        os.waitpid(grandchild, 0)
        os._exit(0)
    os.read(reading, 1)
    members = usage.tree(child)
    assert len(members) == 2
    for member in reversed(members):
        os.kill(member.number, 9)
    os.waitpid(child, 0)
    os.close(writing)
    os.close(reading)


def test_what_is_left_of_one_box_does_not_count_against_the_next(isolation):
    """Catches an innocent submission that cannot start a process because a fork bomb before it is still dying."""
    first, second = (box(replace(isolation, own_uid=True), (), LIMITS) for _ in range(2))
    assert first.uid != second.uid and min(first.uid, second.uid) >= walls.FIRST_UID
    bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass"
    assert in_box(bomb, isolation).stopped or isolation.counted
    assert [record["ended"] for record in in_box("attack = print", isolation).records] == [""]


def test_own_view_of_the_project_holds_only_what_is_shown():
    """Catches solutions that a submission finds beside the helpers."""
    shown = walls.visible(box(NONE, ((Path("/x/shared/kl.py"), "shared/kl.py"),), LIMITS))
    assert ("/x/shared/kl.py", "/course/shared/kl.py") in shown
    assert not any(inside.startswith("/course") and "kl" not in inside for _, inside in shown)


BUSY = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
WAITS = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])\nprint(flush=True)\ninput()"


def test_the_cpu_of_children_that_have_ended_counts():
    """Catches a limit on computing that many short children together go around."""
    with subprocess.Popen([sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        parent.stdout.readline()
        _, taken = usage.exceeded(parent.pid, LIMITS)
        parent.stdin.close()
    assert taken.cpu >= 0.25


def test_what_a_function_started_ends_with_it():
    """Catches a process that computes on, and writes, after its function was judged; here without the walls of a box."""

    def work(send):
        if os.fork() == 0:
            os.close(1)
            while True:
                signal.pause()
        send({"child": os.getpgrp()})

    sent = []
    assert in_a_child(work, sent.append, Bounds(20.0, 10_000)) == ""
    for _ in range(500):
        try:
            os.killpg(sent[0]["child"], 0)
        except ProcessLookupError:
            break
        time.sleep(0.01)
    else:
        pytest.fail("a process that the function started is still there")
    assert sent[0]["child"] != os.getpgrp()
