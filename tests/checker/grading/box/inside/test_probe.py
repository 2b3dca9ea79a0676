"""The trial of a box from inside: each answer, with a system that does or does not let it."""

import contextlib
import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.grading.box.inside import probe

JOB = {
    "secret": "A_SECRET",
    "limits": {"memory": 100, "processes": 41},
    "try_memory_limit": True,
    "try_process_limit": True,
    "counted": True,
}


@pytest.fixture
def asked(monkeypatch):
    """Every trial answers by its name, and notes what it was asked."""
    noted = []

    def answers(name, value=True):
        monkeypatch.setattr(probe, name, lambda *given: noted.append((name, *given)) or value)

    for name in (
        "_sees_variable",
        "_has_network",
        "_can_write",
        "_has_loopback",
        "_can_fill",
        "_can_start",
        "_exceeds_process_limit",
    ):
        answers(name)
    answers("_visible_processes", 21)
    monkeypatch.setenv("TMPDIR", "/its/folder")
    return noted, answers


ALL = {
    "sees_grader_variable": True, "has_network": True, "writes_project_or_system": True, "sees_other_processes": True,
    "writes_private_folder": True, "has_loopback": True, "exceeds_memory_limit": True, "starts_allowed_threads": True,
    "exceeds_process_limit": True,
}  # fmt: skip


def answers_of(job):
    sent = []
    probe.run(job, sent.append)
    (record,) = sent
    return record


def test_each_answer_is_that_of_its_trial(asked):
    """Catches one trial told as another, a limit that is too large to be reached, and trials in an order that harms them."""
    noted, answers = asked
    assert answers_of(JOB) == ALL
    assert noted == [
        ("_sees_variable", "A_SECRET"), ("_has_network",), ("_can_write", "/course/probe"), ("_visible_processes",),
        ("_can_write", "/its/folder/probe"), ("_has_loopback",), ("_can_fill", 200), ("_can_start", 10),
        ("_exceeds_process_limit", 41, True),
    ]  # fmt: skip
    names = {
        "_sees_variable": "sees_grader_variable", "_has_network": "has_network", "_has_loopback": "has_loopback",
        "_can_fill": "exceeds_memory_limit", "_can_start": "starts_allowed_threads",
        "_exceeds_process_limit": "exceeds_process_limit",
    }  # fmt: skip
    for trial, name in names.items():
        answers(trial, False)
        assert answers_of(JOB) == ALL | {name: False}
        answers(trial)
    answers("_visible_processes", 20)
    assert answers_of(JOB) == ALL | {"sees_other_processes": False}


def test_the_system_is_tried_where_the_project_cannot_be_written(asked, monkeypatch):
    tried = []
    monkeypatch.setattr(probe, "_can_write", lambda path: tried.append(path) or path == "/usr/probe")
    assert answers_of(JOB) == ALL | {"writes_private_folder": False}
    assert tried == ["/course/probe", "/usr/probe", "/its/folder/probe"]


def test_limits_that_are_kept_elsewhere_are_not_tried(asked):
    noted, _ = asked
    found = answers_of(JOB | {"try_memory_limit": False, "try_process_limit": False})
    assert found == ALL | {"exceeds_memory_limit": False, "exceeds_process_limit": False}
    assert not {"_can_fill", "_exceeds_process_limit"} & {name for name, *_ in noted}
    assert answers_of(JOB | {"try_process_limit": False}) == ALL | {"exceeds_process_limit": False}


def test_a_variable_is_seen_wherever_it_stands(monkeypatch, tmp_path):
    """Catches a look at the own environment alone, and one that ends at a process which nobody may look into."""
    in_order = SimpleNamespace(glob=lambda pattern: sorted(tmp_path.glob(pattern)))
    monkeypatch.setattr(probe, "Path", lambda root: in_order if root == "/proc" else Path(root))
    monkeypatch.delenv("A_SECRET", raising=False)
    for number, text in (("1", None), ("22", b"HOME=/\0A_SECRET=1\0")):
        (tmp_path / number).mkdir()
        place = tmp_path / number / "environ"
        place.mkdir() if text is None else place.write_bytes(text)
    assert probe._sees_variable("A_SECRET") is True
    (tmp_path / "22" / "environ").write_bytes(b"HOME=/")
    assert probe._sees_variable("A_SECRET") is False
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "environ").write_bytes(b"A_SECRET=1")
    assert probe._sees_variable("A_SECRET") is False, "processes have numbers"
    monkeypatch.setenv("A_SECRET", "1")
    assert probe._sees_variable("A_SECRET") is True


@pytest.mark.parametrize(("names", "has"), [(["lo"], False), ([], True), (["lo", "eth0"], True), (["eth0"], True)])
def test_the_loopback_alone_is_no_network(names, has, monkeypatch):
    monkeypatch.setattr(socket, "if_nameindex", lambda: list(enumerate(names)))
    assert probe._has_network() is has


def test_processes_are_counted_by_their_numbers(monkeypatch):
    monkeypatch.setattr(os, "listdir", lambda path: {"/proc": ["1", "22", "self", "3x"]}[path])
    assert probe._visible_processes() == 2


def test_writing_is_tried_and_leaves_nothing(tmp_path):
    assert probe._can_write(str(tmp_path / "probe")) is True and not list(tmp_path.iterdir())
    assert probe._can_write(str(tmp_path / "nowhere" / "probe")) is False


def test_a_loopback_is_there_when_a_server_answers(monkeypatch):
    """Catches a box in which a notebook's kernel cannot be reached, and a probe that waits for ever."""
    assert probe._has_loopback() is True
    asked = []
    server = contextlib.nullcontext(type("Server", (), {"getsockname": lambda self: ("127.0.0.1", 7)})())
    monkeypatch.setattr(socket, "create_server", lambda address: asked.append(address) or server)

    def unreachable(address, timeout):
        asked.append((address, timeout))
        raise OSError

    monkeypatch.setattr(socket, "create_connection", unreachable)
    assert probe._has_loopback() is False and asked == [("127.0.0.1", 0), (("127.0.0.1", 7), 2)]


def test_memory_is_filled_in_a_child(monkeypatch):
    """Catches a trial that fills nothing, and a box that is ended for its own trial."""
    assert probe._can_fill(1_000_000) is True
    filled = []

    def fills(size):
        filled.append(size)
        os._exit(3)

    monkeypatch.setattr(probe, "_fill_and_exit", fills)
    assert probe._can_fill(7) is False and filled == []


def test_this_process_fills_nothing_itself(monkeypatch):
    """Catches a probe that ends with its own trial, and says nothing more."""
    filled = []
    monkeypatch.setattr(probe, "_fill_and_exit", filled.append)
    monkeypatch.setattr(os, "fork", lambda: 17)
    monkeypatch.setattr(os, "waitpid", lambda child, how: (child, 0))
    assert probe._can_fill(7) is True and filled == []


class Ended(BaseException):
    pass


@pytest.mark.parametrize(("size", "status"), [(10, 0), (1 << 62, 1)])
def test_the_child_says_whether_it_filled_the_memory(size, status, monkeypatch):
    said = []

    def ends(number):
        said.append(number)
        raise Ended

    monkeypatch.setattr(os, "_exit", ends)
    with pytest.raises(Ended):
        probe._fill_and_exit(size)
    assert said == [status]


class Threads:
    """Stands for threading: `most` can be started."""

    def __init__(self, most):
        self.most = most
        self.made = []
        self.over = []

    def Event(self):
        return type("Event", (), {"wait": "wait for it", "set": lambda event: self.over.append(len(self.made))})()

    def Thread(self, target, daemon):
        assert (target, daemon) == ("wait for it", True)
        return self

    def start(self):
        if len(self.made) == self.most:
            raise RuntimeError
        self.made.append(1)


@pytest.mark.parametrize(("most", "can"), [(3, True), (2, False)])
def test_threads_run_at_once_until_all_are_there(most, can, monkeypatch):
    """Catches threads that end before the next begins, and threads that stay."""
    threads = Threads(most)
    monkeypatch.setattr(probe, "threading", threads)
    assert probe._can_start(3) is can and threads.over == [most] and len(threads.made) == min(3, most)


@pytest.mark.parametrize(("counted", "tried", "limits"), [(False, 41, []), (True, 20, [(20, 20)])])
def test_a_system_that_counts_is_tried_with_half(counted, tried, limits, monkeypatch):
    """Catches a trial at which the watcher outside ends the box."""
    asked = []
    monkeypatch.setattr(probe, "_can_start", lambda number: asked.append(number) or "whether it can")
    set_to = []
    monkeypatch.setattr(probe.resource, "setrlimit", lambda what, pair: set_to.append((what, pair)))
    assert probe._exceeds_process_limit(41, counted) == "whether it can" and asked == [tried]
    assert set_to == [(probe.resource.RLIMIT_NPROC, pair) for pair in limits]
