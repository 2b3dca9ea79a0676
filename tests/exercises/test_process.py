"""A verdict in time, whatever the function does, and everything as before."""

import mmap
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import psutil
import pytest
import torch

from shared.exercises import process
from shared.exercises.catalogue.dots import per_token_kl
from shared.exercises.judging import Verdict
from shared.exercises.process import Judgement, in_a_child, in_the_kernel, judgement_on, verdict_on
from shared.exercises.state import everything_restored, settings_now

pytestmark = pytest.mark.usefixtures("patient_judge")
RIGHT = per_token_kl.EXERCISE.reference()
FEW = replace(per_token_kl.EXERCISE, draws=15)  # what a function does besides, it does in every case
FORKS = pytest.mark.skipif(not process.can_fork(), reason="a child that can be killed needs fork")


def endless(*_):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def asleep(*_):
    time.sleep(1000)


def evil(*_):
    class Evil:
        def __repr__(self):
            os._exit(1)

        __str__ = __len__ = __repr__

        def __getattr__(self, name):
            raise SystemExit

    return Evil()


def megabytes_raised(*_):
    raise ValueError("x" * 10**7)


def evil_error(*_):
    class Evil(Exception):
        def __str__(self):
            raise SystemExit

    raise Evil


def megabytes_printed(*arguments):
    print("y" * 10**6)
    sys.stderr.write("y" * 10**6)
    os.write(1, b"z" * 10**5)
    return RIGHT(*arguments)


def recursive(*arguments):
    return recursive(*arguments)


def terabytes(*_):
    return torch.zeros(10**13)


def leaves(*_):
    os._exit(0)


def exits(*_):
    sys.exit(3)


def crashes(*_):
    os.abort()


def kills_its_group(*_):
    os.kill(0, 9)


def leaves_a_thread(*arguments):
    if threading.active_count() == 1:  # a hundred of them would leave no time to anybody
        threading.Thread(target=endless, daemon=True).start()
    return RIGHT(*arguments)


LEFT = []  # the processes that were left, so that it is one


def leaves_a_process(*arguments):
    if not LEFT:
        LEFT.append(os.fork())
        if LEFT == [0]:
            time.sleep(1000)
    return RIGHT(*arguments)


def turns_gradients_off(*arguments):
    result = RIGHT(*arguments)
    torch.set_grad_enabled(False)
    return result


def changes_the_default_dtype(*arguments):
    torch.set_default_dtype(torch.float64)
    return RIGHT(*arguments)


def in_place(logps, ref_logps):
    result = RIGHT(logps, ref_logps)
    ref_logps -= 1
    return result


def makes_the_backward_pass(logps, ref_logps):
    result = RIGHT(logps, ref_logps)
    result.sum().backward(retain_graph=True)
    return result


def seeds_everything(*arguments):
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    os.environ["CHANGED"] = "1"
    sys.setrecursionlimit(5000)
    return RIGHT(*arguments)


# function, whether it passes, what is said, whether the judge in the kernel survives it
HOSTILE = [
    (endless, False, "does not return within", False),
    (asleep, False, "does not return within", True),
    (evil, False, "it returns a thing of type Evil where numbers are needed", True),
    (megabytes_raised, False, "it raised ValueError: xxx", True),
    (evil_error, False, "it raised Evil: a message that cannot be shown", True),
    (megabytes_printed, True, "right", False),
    (recursive, False, "it raised RecursionError", True),
    (terabytes, False, "it raised RuntimeError", True),
    (leaves, False, "it ends the whole process", False),
    (exits, False, "it raised SystemExit: 3", True),
    (crashes, False, "it ends the whole process", False),
    (kills_its_group, False, "it ends the whole process", False),
    (leaves_a_thread, True, "right", False),
    (leaves_a_process, True, "right", False),
    (turns_gradients_off, False, "it changes torch's recording of gradients", True),
    (changes_the_default_dtype, False, "it changes torch's default dtype", True),
    (in_place, False, "it changes its argument `ref_logps` in place", True),
    (makes_the_backward_pass, False, "it calls `backward` itself", True),
    (seeds_everything, True, "right", True),
]


def of_hostile(rows: list[tuple], few: list[Callable]) -> list:
    """The rows for `parametrize`, all but those of `few` slow."""
    return [
        pytest.param(function, passes, said, id=function.__name__, marks=() if function in few else pytest.mark.slow)
        for function, passes, said, _ in rows
    ]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


@pytest.fixture
def as_before(capfd):
    """Everything that a function could change for everybody is as it was when the test began."""
    chance = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    settings = settings_now()
    rest = environment(), sys.getrecursionlimit(), os.getcwd()
    yield
    now = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert now == chance
    assert settings_now() == settings
    assert (environment(), sys.getrecursionlimit(), os.getcwd()) == rest


@pytest.fixture
def short(monkeypatch):
    """Less patience with an endless loop: seconds of computing, so that no right function needs them when it waits."""
    monkeypatch.setattr(process, "CASE_LIMIT", 0.5)


@FORKS
@pytest.mark.parametrize(
    ("function", "passes", "said"), of_hostile(HOSTILE, [endless, evil, leaves, leaves_a_process, in_place])
)
def test_a_child_survives_everything(function, passes, said, as_before, short, capfd, monkeypatch):
    if function is asleep:
        monkeypatch.setattr(process, "TIME_LIMIT", 1.0)
    verdict = verdict_on(FEW, function)
    assert verdict.passed == passes, verdict.text
    assert said in verdict.text
    assert len(verdict.line) < 2000
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("function", "passes", "said"), of_hostile([row for row in HOSTILE if row[-1]], [evil, exits]))
def test_the_kernel_survives_what_leaves_the_interpreter_alone(function, passes, said, as_before, monkeypatch, capfd):
    """The others hold it up or end it: a loop around a bare `except`, a crash, an exit, threads and processes."""
    if function is asleep:
        monkeypatch.setattr(process, "TIME_LIMIT", 1.0)
    verdict = in_the_kernel(judgement_on(FEW, function))
    assert verdict.passed == passes, verdict.text
    assert said in verdict.text
    assert capfd.readouterr() == ("", "")


def test_away_from_the_main_thread_a_loop_is_interrupted_too(monkeypatch):
    """Another thread interrupts where no signal can be set, as on Windows."""
    monkeypatch.setattr(process, "TIME_LIMIT", 0.5)

    def loop(*_):
        while True:
            pass

    verdicts = []
    thread = threading.Thread(target=lambda: verdicts.append(in_the_kernel(judgement_on(FEW, loop))))
    thread.start()
    thread.join(30)
    assert "does not return" in verdicts[0].text


@FORKS
def test_after_threads_of_torch_the_child_still_computes():
    """Catches a child that waits for ever for threads which only its parent has."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        (torch.rand(600, 600, requires_grad=True) @ torch.rand(600, 600)).sum().backward()
        assert in_a_child(judgement_on(FEW, RIGHT)).passed
    finally:
        torch.set_num_threads(before)


@FORKS
def test_no_child_is_left(short):
    """Catches a child that was killed and not waited for; other tests of this process may have children of their own."""
    before = set(psutil.Process().children())
    verdict_on(FEW, endless)
    assert set(psutil.Process().children()) <= before


@FORKS
def test_an_interrupt_by_the_user_ends_the_check(monkeypatch):
    """The one thing that a check raises: what the person at the keyboard asked for."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_awaited", interrupted)
    with pytest.raises(KeyboardInterrupt):
        verdict_on(FEW, endless)


@FORKS
def test_what_a_function_started_ends_with_its_verdict(tmp_path):
    """Catches a process that computes on after the check: the judge's whole group has to end."""
    file = tmp_path / "started"

    def starts_another(*arguments):
        if not file.exists():
            child = os.fork()
            if child == 0:
                time.sleep(1000)
            file.write_text(str(child))
        return RIGHT(*arguments)

    assert verdict_on(FEW, starts_another).passed
    started = int(file.read_text())
    for _ in range(500):
        if not psutil.pid_exists(started) or psutil.Process(started).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.01)
    os.kill(started, 9)
    pytest.fail("the process is still there")


@FORKS
def test_a_function_may_not_take_all_memory(monkeypatch):
    """Catches a notebook's machine that one careless shape brings down."""
    monkeypatch.setattr(process, "MEMORY", 1 << 28)

    def takes_much(*arguments):
        # A mapping of its own: a tensor may come out of what this process has freed. It is never touched, so that nothing
        # is taken where nothing is bounded.
        mmap.mmap(-1, 1 << 29, flags=mmap.MAP_PRIVATE)
        return RIGHT(*arguments)

    verdict = verdict_on(FEW, takes_much)
    assert not verdict.passed and "it raised" in verdict.text


@FORKS
def test_a_line_without_end_is_not_kept(monkeypatch):
    """Catches a function that fills the notebook's memory through the pipe of the judge."""
    monkeypatch.setattr(process, "TIME_LIMIT", 3.0)
    open_before = set(os.listdir("/proc/self/fd"))

    def writes(*_):
        (pipe,) = [
            number
            for number in set(os.listdir("/proc/self/fd")) - open_before
            if os.path.exists(f"/proc/self/fd/{number}") and os.readlink(f"/proc/self/fd/{number}").startswith("pipe:")
        ]
        for _ in range(1000):
            os.write(int(pipe), b"x" * 10_000)
            time.sleep(0.001)

    verdict = verdict_on(FEW, writes)
    assert not verdict.passed and "it writes where only the judge writes" in verdict.text


@pytest.mark.parametrize("judge", [pytest.param(in_a_child, marks=FORKS), in_the_kernel])
def test_a_verdict_that_is_there_at_the_deadline_is_not_lost(judge, monkeypatch):
    """Catches "it does not return" said of a function whose mistake was found: only its explanation took too long."""
    monkeypatch.setattr(process, "TIME_LIMIT", 0.5)
    found = Verdict("KL", False, "the mistake.", 3)

    def explains_for_long(listener):
        listener.on_verdict(found)
        time.sleep(100)

    assert judge(Judgement("KL", explains_for_long, str)) == found


def test_chance_is_everybodys_again_after_a_check(as_before):
    """Catches cells below a check that draw other numbers because of it."""
    with everything_restored():
        seeds_everything(torch.zeros(1, 1), torch.zeros(1, 1))


def test_an_exit_outside_of_every_call_is_an_exit():
    """Catches "SystemExit in the judge" for what the student's code asked for."""
    text = in_a_child(Judgement("f", lambda listener: sys.exit(), lambda number: "x 1")).text
    assert text.startswith("it ends the whole process") and "in the judge" not in text
