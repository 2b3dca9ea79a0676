"""A process for a judge to run in: a forked child that is killed at the deadline, or the kernel where none can be.

No timer inside of a process holds against every function: an exception is swallowed by an `except`, none reaches a
long call of C, and `os._exit` ends the kernel. A child can be killed. It writes lines of JSON into a pipe, and nothing
that the student's function returned is unpickled:

    {"case": 3}                                the judge begins with case 3
    {"verdict": {...}, "final": false}         a verdict that holds, and that may say more if there is time
    {"verdict": {...}, "final": true}          the end
    {"failed": "MemoryError"}                  the judge itself has failed

A child that falls silent is told by the last line that it wrote: the case it is at, or the verdict it had.
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
from shared.exercises.judging import Listener, Verdict, judge
from shared.exercises.state import everything_restored
from shared.exercises.wording import arguments_in_words

TIME_LIMIT = 8.0  # seconds for the whole verdict
CASE_LIMIT = 4.0  # seconds of computing for one case: on a busy machine a right function may wait for longer
MOST_BYTES = 100_000  # of the pipe
MEMORY = 4 << 30  # bytes that a function may ask for beyond what is there


@dataclass(frozen=True)
class Judgement:
    """A judge, ready to run.

    name: of the exercise.    judge: makes the verdict, and tells the listener how far it is.
    in_words: describes the case with this number, for the verdict on a function that was stopped in it.
    """

    name: str
    judge: Callable[[Listener], Verdict]
    in_words: Callable[[int], str]


@dataclass
class Progress:
    """The progress of a judge: the number of the case that it is at, and its verdict so far, if it has one."""

    case: int = 0
    verdict: Verdict | None = None

    def on_case(self, case: int) -> None:
        self.case = case

    def on_verdict(self, verdict: Verdict) -> None:
        self.verdict = verdict


def judgement_on(exercise: Exercise, function: Callable) -> Judgement:
    """The judgement of a student's function on an exercise of the catalogue."""
    return Judgement(
        exercise.name,
        lambda listener: judge(exercise, function, listener),
        lambda number: arguments_in_words(exercise, exercise.cases()[number]),
    )


def verdict_on(exercise: Exercise, function: Callable) -> Verdict:
    """The verdict on a function as an exercise of the catalogue; see `safe_verdict`."""
    return safe_verdict(judgement_on(exercise, function))


def safe_verdict(judgement: Judgement) -> Verdict:
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
    """The verdict of a forked child, which is gone afterwards."""
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

        with everything_restored():
            listener = Listener(
                on_case=lambda case: send({"case": case}),
                on_verdict=lambda verdict: send({"verdict": vars(verdict), "final": False}),
            )
            verdict = judgement.judge(listener)
        send({"verdict": vars(verdict), "final": True})
    except SystemExit:
        pass  # an end of the process as any other: the function asked for it where no call of it was awaited
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
    """Allow this process MEMORY bytes beyond what it has mapped already."""
    import resource

    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = mapped + MEMORY
    if most == resource.RLIM_INFINITY or limit < most:
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _awaited(judgement: Judgement, pipe: int, child: int) -> Verdict:
    """The child's verdict, or what its silence means."""
    deadline = time.monotonic() + TIME_LIMIT
    progress = Progress()
    unfinished = b""  # a line whose end has not come yet
    while len(unfinished) < MOST_BYTES:
        last_heard = time.monotonic()
        if not _says_more(pipe, child, deadline):
            return _of_a_silent_child(judgement, progress, time.monotonic() - last_heard)
        part = os.read(pipe, 65536)
        if not part:
            what = "it ends the whole process, as `exit()`, `os._exit` or a crash would"
            return _stopped(judgement, what, progress.case)
        *lines, unfinished = (unfinished + part).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "failed" in message:
                return Verdict(judgement.name, False, f"it cannot be judged: {message['failed']} in the judge.")
            if "case" in message:
                progress.on_case(message["case"])
                continue
            progress.on_verdict(_verdict_from(message["verdict"]))
            if message["final"]:
                return progress.verdict
    return Verdict(judgement.name, False, "it cannot be judged: it writes where only the judge writes.")


def _says_more(pipe: int, child: int, deadline: float) -> bool:
    """Wait for the child. False at the deadline, or when it has computed for CASE_LIMIT without a word."""
    computed_before = _computed(child)
    while True:
        left_of_all = deadline - time.monotonic()
        left_of_case = CASE_LIMIT - (_computed(child) - computed_before)
        left = min(left_of_all, left_of_case)
        if select.select([pipe], [], [], max(0.0, left))[0]:
            return True
        if left <= 0:
            return False
        # It was given `left` seconds, and on a busy machine it need not have computed in all of them: look again.


def _of_a_silent_child(judgement: Judgement, progress: Progress, silent: float) -> Verdict:
    """The verdict that it had; else, on a function that takes too long for one case or for all of them."""
    if progress.verdict is not None:
        return progress.verdict
    if silent < CASE_LIMIT / 2:
        text = f"it is too slow: {progress.case} cases take {TIME_LIMIT:.0f} seconds."
        return Verdict(judgement.name, False, text, progress.case)
    return _stopped(judgement, f"it does not return within {silent:.0f} seconds", progress.case)


def _verdict_from(facts: dict) -> Verdict:
    """A verdict as it came through the pipe: JSON has lists for tuples."""
    return Verdict(**facts | {"slips": tuple(facts["slips"]), "first": tuple(facts["first"])})


def _computed(child: int) -> float:
    """Seconds of the processor that the child has had (proc(5): utime and stime behind the name in brackets)."""
    try:
        with open(f"/proc/{child}/stat") as file:
            after_name = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0  # it has ended, and somebody else has waited for it
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def _stopped(judgement: Judgement, what: str, number: int) -> Verdict:
    """The verdict on a function that was stopped in the case with this number."""
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
    """The verdict, with a timer that interrupts Python code.

    The timer does not hold against an `except:` in a loop, nor against a long call of C.
    """
    progress = Progress()
    try:
        with everything_restored(), interrupted_after(TIME_LIMIT):
            return judgement.judge(Listener(on_case=progress.on_case, on_verdict=progress.on_verdict))
    except TimeoutError:
        if progress.verdict is not None:
            return progress.verdict
        return _stopped(judgement, f"it does not return within {TIME_LIMIT:.0f} seconds", progress.case)
