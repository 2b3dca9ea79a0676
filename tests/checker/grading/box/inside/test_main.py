"""The program inside a box: what it takes, bounds and says, in this process, where nothing of it is for good."""

import ctypes
import io
import json
import os
import resource
import runpy
import struct
import sys
import time

import pytest

from checker.grading.box.inside import __main__ as program

LIMITS = {"processes": 5, "cpu": 7.9, "folder": 11, "files": 13}
JOB = {"do": "probe", "limits": LIMITS, "counted": True, "uid": 17, "filter": "01ff"}


class Ended(BaseException):
    """The end of the process."""


@pytest.fixture
def done(monkeypatch):
    """The steps that the program takes with a job; its module is a stand-in that is run by `work`."""

    def run(work=lambda job, send: send({"did": job["do"]}), **changed):
        steps = []

        class Module:
            @staticmethod
            def run(job, send):
                steps.append("run")
                assert 0 <= time.monotonic() - job["begun"] < 30
                work(job, send)

        def ends(status):
            steps.append(("ended", status))
            raise Ended

        given = io.BytesIO(json.dumps(JOB | changed).encode())
        opened = []
        monkeypatch.setattr(program.os, "fdopen", lambda *how, **options: opened.append((how, options)) or given)
        monkeypatch.setattr(program, "take_over_stdout", lambda: steps.append)
        monkeypatch.setattr(program, "_bound", lambda *given: steps.append(("bound", *given)))
        monkeypatch.setattr(program, "become", lambda uid: steps.append(("become", uid)))
        monkeypatch.setattr(program, "_refuse", lambda steps_of: steps.append(("refuse", steps_of)))
        monkeypatch.setattr(program.importlib, "import_module", lambda name: steps.append(name) or Module)
        monkeypatch.setattr(program.os, "_exit", ends)
        with pytest.raises(Ended):
            program.main()
        assert opened == [((0, "rb"), {"closefd": False})]
        return steps

    return run


BOUND = ("bound", LIMITS, True)


@pytest.mark.parametrize("do", ["probe", "notebook"])
def test_a_job_is_bounded_before_it_is_done(do, done):
    """Catches a stranger's work before its limits, its user or its filter, and a limit of the wrong job."""
    module = f"checker.grading.box.inside.{do}"
    first = [BOUND, ("become", 17), ("refuse", b"\x01\xff"), module, "run"]
    assert done(do=do) == [*first, {"did": do}, {"finished": True}, ("ended", 0)]
    assert done(do=do, counted=False)[0] == ("bound", LIMITS, False)


def test_functions_become_the_boxs_user_in_children_alone(done):
    """Catches a parent whose children may kill it."""
    assert done(do="answers")[:2] == [BOUND, ("refuse", b"\x01\xff")]
    assert "checker.grading.box.inside.answers" in done(do="answers")


def test_a_fault_of_the_box_is_said_by_its_end(done):
    """Catches a box that ends in silence, and a beginning of a traceback where the error is at its end."""

    def fails(job, send):
        raise KeyError("x" * 5_000)

    *_, said, ended = done(fails)
    assert said["failed"].endswith("x'\n") and len(said["failed"]) == 4_000 and ended == ("ended", 0)
    *_, said, _ = done(lambda job, send: 1 / 0)
    assert said["failed"].startswith("Traceback") and said["failed"].endswith("ZeroDivisionError: division by zero\n")
    steps = done(do="nothing of it")
    assert "KeyError" in steps[-2]["failed"] and steps[-1] == ("ended", 0)


def test_what_is_printed_goes_nowhere_and_records_where_stdout_went():
    """Catches a submission that prints a record, and a program that inherits the way out."""
    reading, writing = os.pipe()
    asked, asking = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            os.write(asking, b"more to read")
            os.dup2(asked, 0)
            send = program.take_over_stdout()
            for number in (1, 2):
                os.write(number, b"printed\n")
            ways_out = [n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}") and n not in (reading, writing)]
            at = {os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)}
            inherited = [
                n
                for n in ways_out
                if os.readlink(f"/proc/self/fd/{n}") == os.readlink(f"/proc/self/fd/{writing}")
                and os.get_inheritable(n)
            ]
            send({"at": sorted(at), "read": len(os.read(0, 9)), "inherited": inherited})
        finally:
            os._exit(0)
    for number in (writing, asked, asking):
        os.close(number)
    with os.fdopen(reading) as said:
        (line,) = said.read().splitlines()
    os.waitpid(child, 0)
    assert json.loads(line) == {"at": ["/dev/null"], "read": 0, "inherited": []}


class Libc:
    """Stands for the C library: it notes what prctl was asked."""

    def __init__(self, status=0):
        self.status = status
        self.asked = []

    def prctl(self, *given):
        self.asked.append(given)
        return self.status


@pytest.fixture
def libc(monkeypatch):
    def stands(status=0):
        made = Libc(status)
        made.opened = []
        monkeypatch.setattr(ctypes, "CDLL", lambda name, **options: made.opened.append((name, options)) or made)
        return made

    return stands


@pytest.mark.parametrize("counted", [True, False])
def test_every_limit_is_set_for_good(counted, libc, monkeypatch):
    """Catches a limit that the submission raises again, a limit of one thing set for another, and memory that others read."""
    library = libc()
    found = {}
    monkeypatch.setattr(resource, "setrlimit", lambda what, pair: found.__setitem__(what, pair))
    program._bound(LIMITS, counted)
    expected = {resource.RLIMIT_CPU: 8, resource.RLIMIT_FSIZE: 11, resource.RLIMIT_NOFILE: 13, resource.RLIMIT_CORE: 0}
    expected |= {resource.RLIMIT_NPROC: 5} if counted else {}
    assert found == {what: (limit, limit) for what, limit in expected.items()}
    assert library.asked == [(4, 0)] and library.opened == [(None, {})]
    monkeypatch.setattr(sys, "platform", "darwin")
    program._bound(LIMITS, counted)
    assert len(library.asked) == 1


def test_a_filter_is_handed_to_the_kernel_whole(libc, monkeypatch):
    """Catches a filter that is cut, or of another length, and one that the kernel refused without a word."""
    steps = bytes(range(24))
    library = libc()
    program._refuse(b"")
    assert library.asked == []
    kept = []
    create = ctypes.create_string_buffer
    monkeypatch.setattr(ctypes, "create_string_buffer", lambda *given: kept.append(create(*given)) or kept[-1])
    program._refuse(steps)
    ((option, mode, described),) = library.asked
    count, address = struct.unpack("HP", described)
    assert (option, mode, count) == (22, 2, 3) and library.opened == [(None, {"use_errno": True})]
    assert address == ctypes.addressof(kept[0]) and kept[0].raw == steps
    libc(status=-1)
    ctypes.set_errno(22)
    with pytest.raises(OSError) as raised:
        program._refuse(steps)
    assert (raised.value.errno, raised.value.strerror) == (22, "the filter of system calls")


def test_the_program_does_its_job_where_it_is_run(monkeypatch):
    monkeypatch.setattr(os, "fdopen", lambda *how, **options: io.BytesIO(b"no job"))
    with pytest.raises(json.JSONDecodeError):
        runpy.run_path(program.__file__, run_name="__main__")
