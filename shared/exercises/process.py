"""Where a judge runs: in a forked child that is killed at the deadline, or in the kernel where none can be.

No timer inside of a process holds against every function: an exception is swallowed by an `except`, none reaches a
long call of C, and `os._exit` ends the kernel. A child can be killed. It sends lines of JSON of limited size through a
pipe, the number of the case it is at and its verdict; nothing that the student's function returned is unpickled.
"""

import gc
import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch

from shared.exercises.exercise import Exercise
from shared.exercises.interrupting import interrupted_after
from shared.exercises.judging import Report, Verdict, judge
from shared.exercises.state import kept
from shared.exercises.wording import arguments_in_words

TIME_LIMIT = 8.0  # seconds for the whole verdict
CASE_LIMIT = 4.0  # seconds of computing for one case: on a busy machine a right function may wait for longer
MOST_BYTES = 100_000  # of the pipe
MEMORY = 4 << 30  # bytes that a function may ask for beyond what is there


@dataclass(frozen=True)
class Judgement:
    """Something to judge: what it is called, how, and in words what case number so and so is, where it may be stopped."""

    name: str
    judge: Callable[[Report], Verdict]
    in_words: Callable[[int], str]


def judgement_on(exercise: Exercise, function: Callable) -> Judgement:
    """Of a student's function, on an exercise of the catalogue."""
    return Judgement(
        exercise.name,
        lambda report: judge(exercise, function, report),
        lambda number: arguments_in_words(exercise, exercise.cases()[number]),
    )


def verdict_on(exercise: Exercise, function: Callable) -> Verdict:
    """The verdict on a function as an exercise of the catalogue; see `apart`."""
    return apart(judgement_on(exercise, function))


def apart(judgement: Judgement) -> Verdict:
    """The verdict, within TIME_LIMIT where a process can fork; whatever the function does, nothing is changed here."""
    try:
        return in_a_child(judgement) if can_fork() else in_the_kernel(judgement)
    except Exception as error:
        return Verdict(judgement.name, False, f"it cannot be judged ({type(error).__name__} in the judge).")


def can_fork() -> bool:
    """Linux without an accelerator in use: after one, a forked child can make no backward pass."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return False
    return not torch.cuda.is_initialized()


# --- in a child


def in_a_child(judgement: Judgement) -> Verdict:
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that other threads are not in the child is known
        child = os.fork()
    if child == 0:
        _child(judgement, read_end, write_end)
    os.close(write_end)
    try:
        return _awaited(judgement, read_end, child)
    finally:
        os.close(read_end)
        _kill(child)


def _child(judgement: Judgement, read_end: int, write_end: int) -> None:
    """Judge, send, and end the process, whatever happens."""
    try:
        torch.set_num_threads(1)  # first: the threads of the parent are not here, and torch would wait for them
        os.close(read_end)
        os.setsid()  # what the function starts is killed with it
        gc.freeze()
        _quiet(keep=write_end)
        _limit_memory()

        def send(message: dict) -> None:
            os.write(write_end, json.dumps(message).encode() + b"\n")

        with kept():
            report = Report(
                begun=lambda case: send({"case": case}),
                found=lambda verdict: send({"verdict": vars(verdict), "final": False}),
            )
            verdict = judgement.judge(report)
        send({"verdict": vars(verdict), "final": True})
    except BaseException as error:
        os.write(write_end, json.dumps({"failed": type(error).__name__[:100]}).encode() + b"\n")
    finally:
        os._exit(0)


def _quiet(keep: int) -> None:
    """Nothing that the child writes or reads reaches the notebook."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        if stream != keep:
            os.dup2(nowhere, stream)


def _limit_memory() -> None:
    import resource

    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = mapped + MEMORY
    if most == resource.RLIM_INFINITY or limit < most:
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _awaited(judgement: Judgement, pipe: int, child: int) -> Verdict:
    """The child's verdict, or what its silence means."""
    end = time.monotonic() + TIME_LIMIT
    received = b""
    provisional = None
    case = 0
    last_heard = time.monotonic()
    computed_before = _computed(child)
    while len(received) < MOST_BYTES:
        rest_of_all = end - time.monotonic()
        rest_of_case = CASE_LIMIT - (_computed(child) - computed_before)
        if not select.select([pipe], [], [], max(0.0, min(rest_of_all, rest_of_case)))[0]:
            if min(rest_of_all, rest_of_case) > 0:
                continue  # it may have waited for the processor
            waited = time.monotonic() - last_heard
            if provisional is not None:
                return provisional
            if waited < CASE_LIMIT / 2:
                text = f"it is too slow: {case} cases take {TIME_LIMIT:.0f} seconds."
                return Verdict(judgement.name, False, text, case)
            return _stopped(judgement, f"it does not return within {waited:.0f} seconds", case)
        part = os.read(pipe, 65536)
        if not part:
            return _stopped(judgement, "it ends the whole process, as `exit()`, `os._exit` or a crash would", case)
        last_heard = time.monotonic()
        computed_before = _computed(child)
        received += part
        *lines, received = received.split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "failed" in message:
                return Verdict(judgement.name, False, f"it cannot be judged: {message['failed']} in the judge.")
            if "case" in message:
                case = message["case"]
                continue
            facts = message["verdict"]
            provisional = Verdict(**facts | {"slips": tuple(facts["slips"]), "first": tuple(facts["first"])})
            if message["final"]:
                return provisional
    return Verdict(judgement.name, False, "it cannot be judged: it writes where only the judge writes.")


def _computed(child: int) -> float:
    """Seconds of the processor that the child has had (proc(5): utime and stime behind the name in brackets)."""
    try:
        with open(f"/proc/{child}/stat") as file:
            after_name = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0  # it has ended, and somebody else has waited for it
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _stopped(judgement: Judgement, what: str, number: int) -> Verdict:
    text = f"{what}. This happens for {judgement.in_words(number)}."
    return Verdict(judgement.name, False, text, number)


def _kill(child: int) -> None:
    """End the child and what it started, if it still runs."""
    for kill, who in ((os.killpg, child), (os.kill, child)):
        try:
            kill(who, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        pass  # somebody else has waited for it


# --- in the kernel


def in_the_kernel(judgement: Judgement) -> Verdict:
    """With a timer that interrupts Python code. It does not hold against an `except:` in a loop or a long call of C."""
    at = [0]
    found = []
    try:
        with kept(), interrupted_after(TIME_LIMIT):
            return judgement.judge(Report(begun=at.append, found=found.append))
    except TimeoutError:
        if found:
            return found[-1]
        return _stopped(judgement, f"it does not return within {TIME_LIMIT:.0f} seconds", at[-1])
