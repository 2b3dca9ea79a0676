"""A child that runs a stranger's work: what is read of it, what ends it, and what is ended with it."""

import json
import os
import select
import signal
import time

import psutil
import pytest

from checker.grading.box.inside import children
from checker.grading.box.inside.children import Bounds, in_a_child

PLENTY = Bounds(20.0, 10_000_000)


def answered(work, bounds=PLENTY):
    """The records of a child's work, and why it did not come to its end."""
    found = []
    ended = in_a_child(work, found.append, bounds)
    return found, ended


def test_records_come_in_order_and_the_end_is_silent():
    def work(send):
        for number in range(3):
            send({"n": number})

    assert answered(work) == ([{"n": 0}, {"n": 1}, {"n": 2}], "")


def test_nothing_is_read_after_the_end():
    """Catches a stranger's process that goes on to answer after it has said that it is done."""

    def work(send):
        send({"done": True})
        send({"late": True})

    assert answered(work) == ([], "")


def raw(*pieces):
    """Work that writes these bytes to the pipe, without the mark of its end."""

    def work(send):
        (writing,) = [n for n in range(3, 256) if os.path.exists(f"/proc/self/fd/{n}") and _is_pipe(n)]
        for piece in pieces:
            while piece:
                piece = piece[os.write(writing, piece) :]
        os._exit(0)

    return work


def _is_pipe(number):
    return os.readlink(f"/proc/self/fd/{number}").startswith("pipe:")


def test_what_is_no_record_is_passed_over_and_half_a_line_is_none():
    """Catches a child that stops the box's program by what it writes, and a record that is cut by reading."""
    lines = b"nonsense\n[1]\n\xff\n" + b"[" * 100_000 + b'\n{"a": 1}\n{"b": '
    assert answered(raw(lines, b"2}\n{")) == ([{"a": 1}, {"b": 2}], "it ended the process it ran in")


def test_the_work_of_a_child_that_raises_has_ended_its_process():
    def work(send):
        send({"a": 1})
        raise KeyError

    assert answered(work) == ([{"a": 1}], "it ended the process it ran in")


def test_time_and_outputs_are_bounded(monkeypatch):
    """Catches a child that is waited for, or read, without an end."""
    begun = time.monotonic()
    assert answered(lambda send: time.sleep(30), Bounds(0.6, 99)) == ([], "it took more than 1 s")
    assert time.monotonic() - begun < 10
    line = json.dumps({"a": "x" * 90}).encode() + b"\n"
    assert answered(raw(line), Bounds(20.0, len(line)))[0] == [json.loads(line)]
    assert answered(raw(line), Bounds(20.0, len(line) - 1)) == ([], "it sent more than 0 MB of outputs")
    assert answered(raw(b"x" * 2_000_001), Bounds(20.0, 2_000_000)) == ([], "it sent more than 2 MB of outputs")
    monkeypatch.setattr(children, "LONGEST_LINE", 1_000_000)
    many = b"{}\n" + b"x" * 1_000_000
    assert answered(raw(many))[1] == "it ended the process it ran in"
    assert answered(raw(many + b"x"))[1] == "one of its outputs has more than 1 MB"


def test_a_child_that_writes_all_the_time_is_over_its_time_too():
    def work(send):
        while True:
            send({})
            time.sleep(0.01)

    found, ended = answered(work, Bounds(0.3, 10_000_000))
    assert found and ended == "it took more than 0 s"


def test_a_child_holds_nothing_but_its_pipe_and_leads_its_own_group():
    """Catches the box's pipe of results open to a stranger's work, and a group that holds this process too."""
    reading, writing = os.pipe()
    high = os.dup2(writing, 300)

    def work(send):
        left = [number for number in range(3, 1024) if os.path.exists(f"/proc/self/fd/{number}")]
        send({"open": len([number for number in left if _is_pipe(number)]), "group": os.getpgrp() == os.getpid()})

    try:
        assert answered(work) == ([{"open": 1, "group": True}], "")
    finally:
        for number in (reading, writing, high):
            os.close(number)


class Exited(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("fails", [False, True])
def test_a_child_gives_up_its_user_and_all_that_is_open_before_it_works(fails, monkeypatch):
    """Catches work that begins with the box's rights, and a child that goes on in its parent's code after it."""
    steps = []
    limits = {children.resource.RLIMIT_NOFILE: (99, 999)}

    def ends(status):
        steps.append(("ends", status))
        raise Exited

    def work(send):
        steps.append("works")
        if fails:
            raise KeyError
        send({"a": 1})

    monkeypatch.setattr(children, "become", lambda uid: steps.append(("becomes", uid)))
    monkeypatch.setattr(children, "sender", lambda writing: lambda record: steps.append((writing, record)))
    monkeypatch.setattr(children.os, "setpgid", lambda *given: steps.append(("leads", *given)))
    monkeypatch.setattr(children.os, "closerange", lambda *given: steps.append(("closes", *given)))
    monkeypatch.setattr(children.resource, "getrlimit", limits.get)
    monkeypatch.setattr(children.os, "_exit", ends)
    with pytest.raises(Exited):
        children._work(work, 20, 5)
    assert steps[:5] == [("becomes", 5), ("leads", 0, 0), ("closes", 3, 20), ("closes", 21, 99), "works"]
    assert steps[5:] == [*([] if fails else [(20, {"a": 1}), (20, {"done": True})]), ("ends", 0)]


@pytest.mark.parametrize("child", [0, 17])
def test_parent_and_child_each_do_their_part(child, monkeypatch):
    """Catches a parent that does a stranger's work itself, and other processes of its box left when the child has ended."""
    steps = []
    monkeypatch.setattr(children.os, "fork", lambda: child)
    monkeypatch.setattr(children.os, "pipe", lambda: (7, 8))
    monkeypatch.setattr(children.os, "close", lambda number: steps.append(("closes", number)))
    monkeypatch.setattr(children, "_work", lambda *given: steps.append(("works", *given)))
    monkeypatch.setattr(children, "_received", lambda *given: steps.append(("receives", *given)) or "the end")
    monkeypatch.setattr(children, "_end", lambda *given: steps.append(("ends", *given)))
    bounds = Bounds(1.0, 2, 5, walled=True)
    ended = in_a_child("work", "receive", bounds)
    monkeypatch.undo()
    works = [("works", "work", 8, 5)] if child == 0 else []
    parent = [("closes", 8), ("receives", 7, "receive", bounds), ("closes", 7), ("ends", child, True)]
    assert (ended, steps) == ("the end", works + parent)


def test_nothing_is_left_open_and_no_child_is_left():
    before = os.listdir("/proc/self/fd")
    children_before = psutil.Process().children()  # of other tests: a process apart stays for the next notebook
    for work in (lambda send: None, raw(b"")):
        answered(work)
    with pytest.raises(ZeroDivisionError):
        in_a_child(lambda send: send({}), lambda record: 1 / 0, PLENTY)
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert psutil.Process().children() == children_before


def test_the_work_is_of_the_boxs_user(monkeypatch):
    """Catches a stranger's work with this process's own rights."""
    became = []
    monkeypatch.setattr(children, "become", became.append)
    assert answered(lambda send: send({"became": became}), Bounds(20.0, 9_999, 5)) == ([{"became": [5]}], "")
    assert answered(lambda send: send({"became": became})) == ([{"became": [None]}], "")

    def refused(uid):
        raise PermissionError

    monkeypatch.setattr(children, "become", refused)
    assert answered(lambda send: send({})) == ([], "it ended the process it ran in")


class System:
    """Stands for the system: which processes are killed, and how many others there are in the box."""

    def __init__(self, others=0, refuses=()):
        self.others, self.refuses = others, refuses
        self.killed = []
        self.slept = []

    def kill(self, target, number):
        assert number == signal.SIGKILL
        if target in self.refuses:
            raise (ProcessLookupError, PermissionError)[target < 0]
        self.killed.append(target)
        if target == -1:
            if not self.others:
                raise ProcessLookupError
            self.others -= 1

    def waitpid(self, target, options=0):
        self.killed.append(("waited", target, options))
        if target == -1:
            raise ChildProcessError
        return target, 0

    def end(self, monkeypatch, walled):
        monkeypatch.setattr(children.os, "kill", self.kill)
        monkeypatch.setattr(children.os, "waitpid", self.waitpid)
        monkeypatch.setattr(children.time, "sleep", self.slept.append)
        children._end(17, walled)


def test_a_child_and_its_group_are_killed(monkeypatch):
    """Catches what a function started, which runs on beside the next one, and one that has gone already."""
    with monkeypatch.context() as patch:
        system = System()
        system.end(patch, walled=False)
        assert system.killed == [17, -17, ("waited", 17, 0)]
    with monkeypatch.context() as patch:
        system = System(refuses=(17, -17))
        system.end(patch, walled=False)
        assert system.killed == [("waited", 17, 0)]


def test_in_a_box_of_its_own_all_others_are_killed_until_none_is_left(monkeypatch):
    """Catches a process that left its group and computes on in the next function's time."""
    with monkeypatch.context() as patch:
        system = System(others=2)
        system.end(patch, walled=True)
    assert system.killed[2:] == [("waited", 17, 0), *[("waited", -1, os.WNOHANG), -1] * 3]
    assert len(system.slept) == 2 and all(0 < seconds < 0.5 for seconds in system.slept)


def test_what_has_ended_is_waited_for(monkeypatch):
    """Catches processes that have ended and stay in the table, until no other can be started."""
    left = [5, 4, 0]
    with monkeypatch.context() as patch:
        patch.setattr(children.os, "waitpid", lambda target, options: (left.pop(0), 0))
        patch.setattr(children.os, "kill", lambda target, number: None)
        assert children._others_killed() is True and left == []


def test_a_box_is_walled_only_where_it_is_said():
    assert Bounds(1.0, 2).walled is False and Bounds(1.0, 2).uid is None


def test_waiting_is_for_the_time_that_is_left(monkeypatch):
    """Catches a wait that begins anew with every piece."""
    asked = []
    wait = select.select

    def noted(reading, writing, odd, left):
        asked.append((writing, odd, left))
        return wait(reading, writing, odd, left)

    monkeypatch.setattr(children.select, "select", noted)

    def work(send):
        for _ in range(3):
            send({})
            time.sleep(0.1)

    answered(work, Bounds(5.0, 99))
    assert all((writing, odd) == ([], []) and left <= 5.0 for writing, odd, left in asked)
    assert asked[-1][2] < asked[0][2] - 0.15
