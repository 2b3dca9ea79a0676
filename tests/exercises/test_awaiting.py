"""A judge in a process of its own, seen from outside: what its lines, its silence and its end mean. No line is a student's."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import torch

from shared.exercises import process
from shared.exercises.catalogue.dots import per_token_kl
from shared.exercises.judging import Verdict
from shared.exercises.process import Judgement, Progress

WRONG = Verdict("kl", False, "it is wrong.", 3, ("slip",), ("helper",), True)
NOBODY = 2**22 + 1  # above the largest number of a process


def judgement(judge=lambda listener: WRONG) -> Judgement:
    return Judgement("kl", judge, lambda number: f"case {number}")


def line(**message) -> bytes:
    return json.dumps(message).encode() + b"\n"


def verdict(final: bool, **others) -> bytes:
    return line(verdict=vars(WRONG) | others, final=final)


@pytest.fixture
def awaited():
    """The verdict on a child that wrote these parts and, unless it hangs, ended."""
    ends = []

    def told(*parts: bytes, hangs=False) -> Verdict:
        read, write = os.pipe()
        ends.extend([read, write])
        for part in parts:
            os.write(write, part)
        if not hangs:
            os.close(ends.pop())
        return process._awaited(judgement(), read, NOBODY)

    yield told
    for end in ends:
        os.close(end)


def test_the_last_verdict_is_the_childs(awaited):
    """Catches a verdict that is told before its end, one whose tuples became lists, a line cut in two."""
    early, final = verdict(False, text="early"), verdict(True)
    assert awaited(line(case=1), early + final) == WRONG
    assert awaited(final[:20], final[20:], hangs=True) == WRONG
    assert awaited(early, final + line(failed="Late")) == WRONG


def test_a_child_that_ends_without_its_last_word_has_ended_the_process(awaited):
    ended = "it ends the whole process, as `exit()`, `os._exit` or a crash would. This happens for case 2."
    assert awaited(line(case=0) + line(case=2)) == Verdict("kl", False, ended, 2)
    assert awaited(line(case=2), verdict(False)).text == ended, "an early verdict says nothing of an end"
    assert awaited().text.endswith("This happens for case 0.")


def test_a_judge_that_fails_says_so(awaited):
    assert awaited(line(failed="MemoryError")) == Verdict("kl", False, "it cannot be judged: MemoryError in the judge.")


def test_a_line_without_end_is_none_of_the_judges(awaited, monkeypatch):
    """Catches memory that fills while the end of a line is awaited."""
    monkeypatch.setattr(process, "MOST_BYTES", 100)
    said = "it cannot be judged: it writes where only the judge writes."
    assert awaited(b"x" * 100) == Verdict("kl", False, said)
    assert awaited(b'{"case": 1}' + b" " * 80 + b"\n" + verdict(True)) == WRONG


def test_silence_is_told_by_the_last_line(awaited, monkeypatch):
    """Catches a child that is waited for beyond the deadline, and a verdict that is lost with it."""
    monkeypatch.setattr(process, "TIME_LIMIT", 0.02)
    assert awaited(line(case=1), verdict(False), hangs=True) == WRONG
    slow = Verdict("kl", False, "it is too slow: 7 cases take 0 seconds.", 7)
    assert awaited(line(case=7), hangs=True) == slow


def test_a_case_that_takes_all_the_time_is_told_apart_from_many_slow_ones(monkeypatch):
    monkeypatch.setattr(process, "CASE_LIMIT", 4.0)
    monkeypatch.setattr(process, "TIME_LIMIT", 8.0)
    silent = process._of_a_silent_child
    assert silent(judgement(), Progress(5), 1.9) == Verdict("kl", False, "it is too slow: 5 cases take 8 seconds.", 5)
    long = Verdict("kl", False, "it does not return within 3 seconds. This happens for case 5.", 5)
    assert silent(judgement(), Progress(5), 3.2) == long
    assert silent(judgement(), Progress(5), 2.0).text.startswith("it does not return within 2 seconds.")
    assert silent(judgement(), Progress(5, WRONG), 3.2) is WRONG


def test_a_child_is_waited_for_by_what_it_computes(monkeypatch):
    """Catches a right function that is stopped because the machine was busy, and a loop that is waited for for ever."""
    read, write = os.pipe()
    computed = iter([10.0, 10.0, 11.0, 12.0, 14.5])
    waited = []
    monkeypatch.setattr(process, "_computed", lambda child: next(computed))
    monkeypatch.setattr(process, "CASE_LIMIT", 4.0)
    monkeypatch.setattr(process.select, "select", lambda r, w, x, seconds: waited.append((r, seconds)) or ([], [], []))
    assert not process._says_more(read, NOBODY, time.monotonic() + 100)
    assert waited == [([read], 4.0), ([read], 3.0), ([read], 2.0), ([read], 0.0)]
    monkeypatch.setattr(process, "_computed", lambda child: 0.0)
    waited.clear()
    assert not process._says_more(read, NOBODY, time.monotonic() - 1) and waited == [([read], 0.0)]
    monkeypatch.undo()
    os.write(write, b"x")
    assert process._says_more(read, NOBODY, time.monotonic() + 5)
    assert process._says_more(read, NOBODY, time.monotonic() - 5), "what was said in time counts"
    os.close(read)
    os.close(write)


def test_the_time_of_a_process_is_its_own_and_that_of_the_system():
    """Catches the time of its children, and another column of the table."""
    with open("/dev/zero", "rb") as zeros:
        while os.times().system < 0.3:
            zeros.read(1 << 22)
    here = process._computed(os.getpid())
    assert abs(here - time.process_time()) < 0.1 and here > 0.1
    assert process._computed(NOBODY) == 0.0


def test_a_child_and_what_it_started_are_ended():
    """Catches a process that computes on after the verdict, and an error where it had ended already."""
    starts = "import subprocess, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", starts], stdout=subprocess.PIPE, start_new_session=True)
    started = int(child.stdout.readline())
    process._kill(child.pid)
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)
    for _ in range(200):  # what it started is somebody else's to wait for
        try:
            with open(f"/proc/{started}/stat") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            break
        if state == "Z":
            break
        time.sleep(0.01)
    else:
        os.kill(started, signal.SIGKILL)
        raise AssertionError("it still runs")
    process._kill(child.pid)
    child.stdout.close()
    child.wait()


def test_a_process_forks_on_linux_without_an_accelerator(monkeypatch):
    assert process.can_fork()
    with monkeypatch.context() as patched:
        patched.setattr(torch.cuda, "is_initialized", lambda: True)
        assert not process.can_fork()
    with monkeypatch.context() as patched:
        patched.setattr(process, "sys", SimpleNamespace(platform="darwin"))
        assert not process.can_fork()
    monkeypatch.delattr(os, "fork")
    assert not process.can_fork()


def test_the_verdict_is_that_of_a_child_where_one_can_be(monkeypatch):
    """Catches a judge in the kernel where a child can be had, and an error of the judge that reaches the student."""
    monkeypatch.setattr(process, "in_a_child", lambda judgement: f"{judgement.name} in a child")
    monkeypatch.setattr(process, "in_the_kernel", lambda judgement: f"{judgement.name} in the kernel")
    for forks, where in ((True, "in a child"), (False, "in the kernel")):
        monkeypatch.setattr(process, "can_fork", lambda forks=forks: forks)
        assert process.safe_verdict(judgement()) == f"kl {where}"
    monkeypatch.setattr(process, "in_the_kernel", lambda judgement: {}["x"])
    failed = Verdict("kl", False, "it cannot be judged (KeyError in the judge).")
    assert process.safe_verdict(judgement()) == failed


def test_a_child_judges_as_the_kernel_does(capfd):
    """Catches a verdict that differs by where it was made, and words of the judge that reach the notebook."""

    def judge(listener):
        print("said")
        os.write(1, b"written")
        listener.on_case(1)
        listener.on_verdict(WRONG)
        return Verdict("kl", True, "right.", torch.get_num_threads(), ("a",))

    found = process.in_a_child(judgement(judge))
    assert found == Verdict("kl", True, "right.", 1, ("a",)) and capfd.readouterr().out == ""
    assert process.in_the_kernel(judgement(judge)).text == "right."
    failed = process.in_a_child(judgement(lambda listener: {}["x"]))
    assert failed.text == "it cannot be judged: KeyError in the judge."
    long = type("E" * 200, (Exception,), {})

    def raises(listener):
        raise long

    assert process.in_a_child(judgement(raises)).text == f"it cannot be judged: {'E' * 100} in the judge."


def test_in_the_kernel_the_time_ends_with_what_was_known(monkeypatch):
    monkeypatch.setattr(process, "TIME_LIMIT", 0.05)

    def sleeps(listener):
        listener.on_case(4)
        time.sleep(5)

    def knows(listener):
        listener.on_verdict(WRONG)
        time.sleep(5)

    stopped = Verdict("kl", False, "it does not return within 0 seconds. This happens for case 4.", 4)
    assert process.in_the_kernel(judgement(sleeps)) == stopped
    assert process.in_the_kernel(judgement(knows)) is WRONG


def test_the_memory_of_a_child_is_what_there_is_and_so_much_more():
    """Catches a limit that is set in pages, one above what the system allows, and one that takes what is there."""
    told = (
        "import resource; from shared.exercises import process; "
        "mapped = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize(); "
        "process._limit_memory(); limit, most = resource.getrlimit(resource.RLIMIT_AS); "
        "assert abs(limit - mapped - process.MEMORY) < 1 << 28, (limit, mapped); "
        "process.MEMORY = 1 << 60; resource.setrlimit(resource.RLIMIT_AS, (limit, limit)); "
        "process._limit_memory(); assert resource.getrlimit(resource.RLIMIT_AS) == (limit, limit)"
    )
    assert process.MEMORY == 4 << 30
    child = os.fork()
    if child == 0:
        try:
            exec(told)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_judgement_knows_its_exercise():
    """Catches the case of another number in the words on a function that was stopped."""
    exercise = per_token_kl.EXERCISE
    made = process.judgement_on(exercise, exercise.reference())
    assert made.name == "per-token KL" and made.in_words(1) != made.in_words(2)
    assert made.in_words(0).startswith("logps ")
    heard = []
    assert made.judge(process.Listener(on_case=heard.append)).passed and heard[:3] == [0, 1, 2]
    assert process.verdict_on(exercise, exercise.reference()).passed
