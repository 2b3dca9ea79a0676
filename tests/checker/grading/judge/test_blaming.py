"""Functions that try to blame the machine, or to take another function's points: they earn nothing, it keeps its own.

The judge is the stand-in of `test_hidden_cases.py`; boxes are real. An attack is the body of a function that `square` calls.
"""

import textwrap
import threading

import pytest

from benchmarks.attacks import job
from checker.grading.box import ending
from checker.grading.box import isolation as isolations
from checker.grading.box.isolation import BoxFailed, Outcome, run
from checker.grading.box.limits import Limits
from checker.grading.box.selection import PROJECT
from checker.grading.box.walls import Isolation, box
from checker.grading.judge import boxed_functions
from checker.grading.judge.boxed_functions import BoxedFunction, Grader
from checker.points.items import Check
from checker.reading.slicing.slices import Slice
from tests.checker.grading.judge.test_hidden_cases import ABOUT, CUBE, SQUARE, PlainKey
from tests.checker.grading.judge.test_hidden_cases import judged as judged
from tests.checker.grading.judge.test_hidden_cases import notebook as notebook
from tests.checker.grading.judge.test_hidden_cases import without_torch as without_torch
from tests.checker.grading.judge.test_hidden_cases import worked as worked
from tests.conftest import few_of

# Writes to every descriptor of every process that can be opened, and to all of its own.
TELL = """
import glob, json, os
def tell(data):
    for number in range(64):
        try: os.set_blocking(number, False); os.write(number, data)
        except OSError: pass
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), data)
        except OSError: pass
def tell_record(record):
    tell(b"\\n" + json.dumps(record).encode() + b"\\n")
"""

# Runs something in a process that left its parent's group and session, after a moment.
LATER = """
import os, time
def later(act):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(0.3)
            while True: act()
        os._exit(0)
"""

ATTACKS = {
    "says that memory was full": 'tell_record({"failed": "RuntimeError: cuda out of memory"})',
    "says that it failed and ends": 'tell_record({"failed": "OSError: no space"}); os._exit(1)',
    "says that all is finished": 'tell_record({"finished": True}); os._exit(0)',
    "says that the box begins": 'tell_record({"begun": True})',
    "says that it is done": 'tell_record({"done": True})',
    "answers for another": 'for n in range(5): tell_record({"key": "1", "case": n, "outcome": {"value": -1}})',
    "ends another": 'tell_record({"key": "1", "ended": "it cannot be defined"})',
    "half a line": 'tell(b\'{"key": "1", \')',
    "a line without end": "while True: tell(b'x' * 60_000)",
    "lines without end": "while True: tell_record({'outcome': {'value': 'x' * 1000}})",
    "lists in lists": "for n in range(1, 1200): tell(b'\\n{\"outcome\": {\"value\":' + b'[' * n + b']' * n + b'}}\\n')",
    "a number too long": "tell(b'\\n{\"outcome\": {\"value\": ' + b'9' * 100_000 + b'}}\\n')",
    "no record at all": 'tell(b\'\\n[1]\\nnull\\n\\xff\\n{"outcome": 1}\\n{"problem": {}}\\n\')',
    "closes what is open": "os.closerange(0, 1000)",
    "kills its parent": "os.kill(os.getppid(), 9)",
    "kills the first process": "os.kill(1, 9)",
    "kills all": "os.kill(-1, 9)",
    "kills its group": "os.killpg(0, 9)",
    "stops its parent": "os.kill(os.getppid(), 19)",
    "asks its parent to end": "for n in (1, 2, 3, 13, 14, 15): os.kill(os.getppid(), n)",
    "takes its parent's time": "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (0, 0)); time.sleep(1)",
    "takes its parent's memory": "resource.prlimit(os.getppid(), resource.RLIMIT_AS, (1, 1))",
    "takes its parent's files": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (1, 1))",
    "takes its parent's children": "resource.prlimit(os.getppid(), resource.RLIMIT_NPROC, (1, 1))",
    "writes when its time is over": "later(lambda: tell(b'{')); time.sleep(60)",
    "writes when it has ended": "later(lambda: tell_record({'failed': 'MemoryError'})); os._exit(0)",
    "kills later": "later(lambda: os.kill(-1, 9))",
    "kills its parent later": "parent = os.getppid(); later(lambda: os.kill(parent, 9))",
    "fills the memory": "kept = [b'x' * 10**7 for _ in range(10**4)]",
    "fills the memory and kills its parent": "kept = [b'x' * 10**7 for _ in range(12)]; os.kill(os.getppid(), 9)",
    "too many processes": "while True: os.fork()",
    "aborts": "os.abort()",
    "a segmentation fault": "ctypes.string_at(0)",
}


# One of each kind: a record that lies, a stream that does not end, a process that is killed, stopped or short of something.
FEW = (
    "says that memory was full",
    "answers for another",
    "a line without end",
    "lists in lists",
    "closes what is open",
    "kills its parent",
    "kills all",
    "stops its parent",
    "takes its parent's memory",
    "writes when it has ended",
    "too many processes",
)


@pytest.mark.parametrize("attack", few_of(ATTACKS, FEW), ids=str)
def test_a_function_that_blames_the_machine_earns_nothing_and_costs_no_other(attack, judged, monkeypatch):
    """Catches "not graded, a fault of the machine" that a student can order, at every run; and a neighbour's loss."""
    monkeypatch.setattr(boxed_functions, "SECONDS", 2.0)
    body = "import ctypes, os, resource, time\n" + ATTACKS[attack] + "\nreturn 0"
    cells = [TELL, LATER, "def attack(x):\n" + textwrap.indent(body, "    ")]
    # What fails as a call is answered like any other error; the attack is tried at the first case.
    limits = Limits(wall=60, memory=200_000_000, result=3_000_000)
    found = judged(*cells, SQUARE.format("return attack(x)"), CUBE.format("return x ** 3"), seed=100, limits=limits)
    assert not found["square"].passed and found["square"].earned == 0
    assert found["cube"].passed, found["cube"].text


@pytest.fixture
def killing(judged, monkeypatch):
    """Judges a function that kills its parent where that is possible, beside a right one; counts the boxes."""
    boxes = []

    def without_walls(_, *rest):
        boxes.append(rest)
        return box(Isolation("none"), *rest)

    monkeypatch.setattr(boxed_functions, "box", without_walls)
    cells = (SQUARE.format("import os; os.kill(os.getppid(), 9)"), CUBE.format("return x ** 3"))
    return lambda: judged(*cells), boxes


def test_a_function_that_ends_its_box_is_tried_again_alone_and_told_so(killing):
    """Catches a box that is started again and again for a function that ends every one of them."""
    judge, boxes = killing
    found = judge()
    assert boxed_functions.ENDED_ITS_BOX in found["square"].text and found["square"].earned == 0
    assert found["cube"].passed
    assert len(boxes) == 3  # both, and each alone


def test_a_box_that_the_machine_ended_is_nobodys_0(killing, monkeypatch):
    """Catches a machine out of memory, which kills boxes, taken for an answer that is wrong."""
    counts = iter(range(100))  # of processes that the system killed for want of memory
    monkeypatch.setattr(ending, "events", lambda path: {"oom_kill": next(counts)})
    with pytest.raises(BoxFailed, match="machine's memory was full"):
        killing[0]()


def test_a_box_that_is_killed_from_outside_ends_and_is_the_machines(isolation, monkeypatch):
    """Catches an administrator's kill of a box taken for the doing of what ran in it, and a box that outlives it."""
    if isolation.kind != "bwrap":
        pytest.skip("a container is ended by its own program")
    followed = isolations._followed

    def kill(running):
        threading.Timer(1.0, running.process.kill).start()
        return followed(running)

    monkeypatch.setattr(isolations, "_followed", kill)
    outcome = run(box(isolation, PROJECT, Limits(wall=30)), job("import time; time.sleep(20)", 25))
    assert outcome.begun and "killed from outside" in outcome.failure
    assert outcome.seconds < 10


def ended(*through, stopped="", finished=False):
    """The outcome of a box in which the functions at these places are through."""
    records = tuple({"key": str(number), "ended": ""} for number in through)
    return Outcome(records, stopped, 0.1, begun=True, finished=finished)


def test_a_second_box_that_ends_is_judged_and_not_tried_for_ever(judged, monkeypatch):
    """Catches a grader that never comes to an end because every box of a function ends."""
    monkeypatch.setattr(boxed_functions, "run_submission", lambda *arguments: ended())
    found = judged(SQUARE.format("return x * x"), CUBE.format("return x ** 3"))
    assert not found["square"].passed and not found["cube"].passed


RETRIES = {
    "all work done": ([ended(finished=True)], ["abc"]),
    "over a limit, the first is through": ([ended(0, stopped="full"), ended(finished=True)], ["abc", "bc"]),
    "over a limit, none is through": ([ended(stopped="full"), ended(finished=True)], ["abc", "bc"]),
    "over a limit in every box": ([ended(stopped="full")] * 3, ["abc", "bc", "c"]),
    "ended by a function": ([ended(0), ended(), ended(finished=True)], ["abc", "b", "c"]),
    "over a limit, then ended by a function": ([ended(0, stopped="full"), *[ended()] * 3], ["abc", "bc", "b", "c"]),
}


@pytest.mark.parametrize("case", RETRIES, ids=str)
def test_who_is_run_again_follows_the_table(case, monkeypatch):
    """Catches a row of the table in `boxed_functions.py` that the code does not keep, as a retry that takes all along."""
    outcomes, boxes = RETRIES[case]
    left = iter(outcomes)
    seen = []

    def run_submission(_, job):
        seen.append("".join(function["name"] for function in job["functions"]))
        return next(left)

    monkeypatch.setattr(boxed_functions, "run_submission", run_submission)
    monkeypatch.setitem(ABOUT, "a", lambda x: x)
    functions = [BoxedFunction(Check("a", name), Slice(), frozenset()) for name in "abc"]
    found = boxed_functions.judge_one_batch(functions, Grader(PlainKey(), Isolation("none"), Limits()))
    assert seen == boxes
    assert sorted(check.function for check in found) == ["a", "b", "c"]
