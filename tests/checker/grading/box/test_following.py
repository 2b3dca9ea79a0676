"""Following a box from outside: what is read of it, for how long, and what is said of its end.

A box here is a program without walls; what is looked at is the reading.
"""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from checker.grading.box import containers, isolation
from checker.grading.box.cgroups import NoCgroup
from checker.grading.box.isolation import BoxFailed, Outcome, _followed, run, run_submission
from checker.grading.box.limits import Limits
from checker.grading.box.usage import Usage
from checker.grading.box.walls import Isolation, box

NONE = Isolation("none")
BOX = box(NONE, (), Limits(wall=20))


@pytest.fixture
def followed(monkeypatch):
    """Follow a program of Python. `looks` are what each look finds, the last one for all that follow."""
    monkeypatch.setattr(isolation, "Witness", lambda running: SimpleNamespace(seen=lambda: running.happened))

    def follow(program, looks=(("", Usage(0, 0, 0.0)),), refused="", **limits):
        looks = list(looks)
        seen = []

        def exceeded():
            seen.append(time.monotonic())
            return looks.pop(0) if len(looks) > 1 else looks[0]

        command = [sys.executable, "-S", "-u", "-c", f"import sys, time\n{program}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            running = SimpleNamespace(
                process=process, box=replace(BOX, limits=Limits(**{"wall": 20, **limits})), exceeded=exceeded,
                refused=lambda: refused, happened="the moon fell",
            )  # fmt: skip
            try:
                outcome = _followed(running)
            finally:
                process.kill()
        assert process.stdout.closed and process.stderr.closed
        follow.looked = seen
        return outcome

    return follow


BEGUN, FINISHED = '{"begun": true}', '{"finished": true}'


def test_records_come_in_order_and_what_is_none_is_passed_over(followed):
    """Catches a line that is cut in two by reading, and the box's own marks among what a submission sent."""
    long = "'[' * 100_000, '{\"b\": \"' + 'x' * 200_000 + '\"}'"
    some = [BEGUN, '{"a": 1}', "nonsense", "[1]"]
    outcome = followed(f"print(*{some!r}, {long}, {FINISHED!r}, '{{', sep=chr(10), end='')")
    assert outcome.records == ({"a": 1}, {"b": "x" * 200_000})
    assert (outcome.begun, outcome.finished, outcome.stopped, outcome.outside) == (True, True, "", "")
    assert 0 < outcome.seconds < 20 and outcome.last_words == "" and (outcome.memory, outcome.cpu) == (0, 0.0)


def test_what_looks_like_a_mark_is_none(followed):
    """Catches a submission that says in other words that its box came to the end."""
    outcome = followed('print(\'{"begun": 1, "x": 2}\'); print(\'{"finished": "true"}\')')
    assert not outcome.begun and not outcome.finished and len(outcome.records) == 2


def test_the_witness_is_asked_of_a_box_that_was_cut_short_alone(followed):
    assert followed(f"print({BEGUN!r})").outside == "the moon fell"
    assert followed(f"print({FINISHED!r})").outside == ""
    assert followed(f"print({BEGUN!r})", refused="too many").outside == ""


def test_the_last_words_are_the_end_of_what_was_said(followed):
    """Catches the beginning kept for the end, and half a character that stops the grader."""
    said = "sys.stderr.buffer.write(b'y' * 9_000 + b' \\xff the error \\n')"
    assert followed(said).last_words == ("y" * 9_000 + " \ufffd the error \n")[-4_000:].strip()


def test_the_most_that_was_taken_is_kept(followed):
    """Catches what a box took at its end told for the most."""
    looks = [("", Usage(1, 500, 1.0)), ("", Usage(1, 900, 3.0)), ("", Usage(1, 100, 2.0))]
    outcome = followed("time.sleep(0.6)", looks)
    assert (outcome.memory, outcome.cpu) == (900, 3.0)
    between = [later - earlier for earlier, later in zip(followed.looked, followed.looked[1:])]
    assert len(followed.looked) >= 4 and min(between) >= 0.05


@pytest.mark.parametrize("busy", ["time.sleep(30)", "while True: print('x', end='')"])
def test_a_box_over_a_limit_is_stopped_though_it_talks(busy, followed):
    """Catches a box that is never looked at as long as it sends something."""
    outcome = followed(busy, [("", Usage(0, 0, 0.0)), ("it took too much", Usage(9, 9, 9.0))], result=10**9)
    assert outcome.stopped == "it took too much" and outcome.memory == 9


def test_time_and_outputs_are_bounded(followed):
    assert followed("time.sleep(30)", wall=0.4).stopped == "it took more than 0 s"
    assert followed("time.sleep(30)", wall=0.6).stopped == "it took more than 1 s"
    exact = f"sys.stdout.write('x' * {2_000_000}); sys.stdout.flush()"
    assert followed(exact, result=2_000_000).stopped == ""
    assert (
        followed(exact.replace("2000000", "2000001"), result=2_000_000).stopped == "it sent more than 2 MB of outputs"
    )
    assert (
        followed("time.sleep(30)", [("", Usage(0, 0, 0.0))], refused="too many", wall=0.2).stopped
        == "it took more than 0 s"
    )
    assert followed("pass", refused="too many").stopped == "too many"


def test_a_grader_that_stops_ends_its_boxes(followed):
    isolation.stopping.set()
    try:
        assert followed("time.sleep(30)").stopped == "grading was stopped"
    finally:
        isolation.stopping.clear()


CAUSES = [
    (Outcome((), "", 0.1), "The box could not be started (it said nothing)."),
    (Outcome((), "it took long", 0.1), "The box could not be started (it took long)."),
    (Outcome((), "it took long", 0.1, last_words="one\ntwo \n"), "The box could not be started (two)."),
    (Outcome(({"failed": "a\nb"}, {"failed": "c"}), "", 0.1, last_words="d"), "The box could not be started (b)."),
    (Outcome(({"x": 1}, {"failed": "x" * 999}), "", 0.1), f"The box could not be started ({'x' * 300})."),
    (Outcome(({"failed": " "},), "it took long", 0.1), "The box could not be started (it took long)."),
    (Outcome((), "", 0.1, begun=True, outside="it fell"), "The box ended before its work did: it fell."),
    (Outcome((), "too long", 0.1, begun=True, outside="it fell"), ""),
    (Outcome((), "", 0.1, begun=True, finished=True, outside="it fell"), ""),
    (Outcome((), "", 0.1, begun=True), ""),
    (Outcome(({"failed": "RuntimeError: cuda out of memory"},), "", 0.1, begun=True), ""),  # words of a submission
]


def test_a_failure_is_said_with_its_cause():
    """Catches a fault of the machine taken for the submission's, or the other way round."""
    for outcome, sentence in CAUSES:
        assert outcome.failure == sentence
    plain = Outcome((), "", 0.1)
    assert (plain.memory, plain.cpu, plain.last_words, plain.begun, plain.finished, plain.outside) == (
        0,
        0.0,
        "",
        *[False] * 2,
        "",
    )
    assert plain == Outcome((), "", 0.1, last_words="noise") and not plain.cut_short


def test_what_cannot_be_started_is_a_fault_of_the_machine(monkeypatch):
    """Catches points lost since a program was not there."""

    def fails(error):
        def start(box, job):
            raise error

        return start

    for error in (OSError("no bwrap"), NoCgroup("no cgroup"), containers.NoImage("no image")):
        monkeypatch.setattr(isolation, "run", fails(error))
        with pytest.raises(BoxFailed) as raised:
            run_submission(BOX, {})
        assert str(raised.value) == f"The box could not be started ({error})."
    failing, fine = Outcome((), "", 0.1), Outcome((), "", 0.1, begun=True, finished=True)
    monkeypatch.setattr(isolation, "run", lambda box, job: failing)
    with pytest.raises(BoxFailed, match="it said nothing"):
        run_submission(BOX, {})
    asked = []
    monkeypatch.setattr(isolation, "run", lambda box, job: asked.append((box, job)) or fine)
    assert run_submission(BOX, {"do": "x"}) is fine and asked == [(BOX, {"do": "x"})]


@pytest.mark.parametrize(("kind", "brings"), [("bwrap", False), ("none", False), ("podman", True)])
def test_a_job_goes_in_with_its_limits(kind, brings, monkeypatch):
    """Catches a limit that is set outside and nowhere inside, and a filter that a container never gets."""
    limits = Limits(wall=7, processes=5)
    made = box(Isolation(kind, "p", own_uid=True, counted=True), (), limits)
    given = []

    @contextmanager
    def starts(box, file):
        given.append((box, json.loads(file.read())))
        yield "running"

    monkeypatch.setattr(isolation, "started", starts)
    monkeypatch.setattr(isolation, "_followed", lambda running: running)
    monkeypatch.setattr(isolation.seccomp, "program", lambda: b"\x01\xff")
    assert run(made, {"do": "nothing", "uid": "mine"}) == "running"
    ((started_box, job),) = given
    assert started_box is made and job["limits"] == json.loads(json.dumps(vars(limits)))
    assert job == {
        "do": "nothing", "limits": job["limits"], "uid": made.uid, "counted": True, "walled": kind != "none",
        "filter": "01ff" if brings else "",
    }  # fmt: skip
    monkeypatch.setattr(isolation.seccomp, "program", lambda: None)
    run(made, {})
    assert given[1][1]["filter"] == ""
