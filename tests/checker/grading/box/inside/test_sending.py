"""Records that leave a box line by line, and the user that a stranger's work runs as."""

import json
import os

from checker.grading.box.inside import BEGUN, FINISHED, sending, users


def test_each_record_is_a_line_however_little_the_pipe_takes(monkeypatch):
    """Catches the end of a long record lost, and two records on one line."""
    written = []
    monkeypatch.setattr(sending.os, "write", lambda to, data: written.append((to, data[:3])) or len(data[:3]))
    send = sending.sender(17)
    send({"a": 1})
    send({})
    assert {to for to, _ in written} == {17}
    assert b"".join(data for _, data in written) == b'{"a": 1}\n{}\n'


def test_the_marks_of_a_box_are_two():
    """Catches a box that came to its work taken for one that came to its end."""
    assert (BEGUN, FINISHED) == ("begun", "finished") and json.dumps({BEGUN: True}) == '{"begun": true}'


def test_a_user_is_left_for_good_with_its_groups(monkeypatch):
    """Catches root's groups kept by a stranger, and a way back: the groups go first, while that is allowed."""
    done = []
    for name in ("setgroups", "setresgid", "setresuid"):
        monkeypatch.setattr(os, name, lambda *given, name=name: done.append((name, *given)))
    users.become(None)
    assert done == []
    users.become(0)
    users.become(5)
    assert done[3:] == [("setgroups", []), ("setresgid", 5, 5, 5), ("setresuid", 5, 5, 5)] and len(done) == 6
