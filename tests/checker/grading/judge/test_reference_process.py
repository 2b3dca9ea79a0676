"""The talk with the process that knows the right answers; a stand-in says its lines.

That the real one answers so is tried in test_hidden_cases.py.
"""

import io
import json
import subprocess
import sys

import pytest

from checker.grading.box.walls import ROOT
from checker.grading.judge import reference_process
from checker.grading.judge.reference_process import HiddenCases, HiddenVerdict, ReferenceProcess

CASES = {
    "checks": ["kl", "loss"], "pickled": "abc", "modules": ["shared.kl"], "without_reference": ["own"],
    "supplied_names": {"kl": ["tokenizer"]},
}  # fmt: skip
VERDICT = {
    "passed": False,
    "text": "no.",
    "finding": True,
    "share": 0.25,
    "only_answers_missing": True,
    "mistakes": ["no."],
}


class Speaks:
    """Stands for the process: it keeps what it is asked, and says these lines."""

    def __init__(self, *answers):
        self.stdin = io.StringIO()
        self.stdin.flush = lambda: self.flushed.append(self.stdin.getvalue())
        self.flushed = []
        self.stdout = io.StringIO(
            "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in answers)
        )
        self.ended = []

    def poll(self):
        return -9

    def kill(self):
        self.ended.append("killed")

    def wait(self):
        self.ended.append("waited for")

    @property
    def asked(self) -> list[dict]:
        return [json.loads(line) for line in self.stdin.getvalue().splitlines()]


@pytest.fixture
def speaking(monkeypatch):
    """A reference process of seed 7 whose answers are given, and what it was started with."""

    def begin(*answers):
        program = Speaks(*answers)
        started = []
        monkeypatch.setattr(subprocess, "Popen", lambda *given, **options: started.append((given, options)) or program)
        return ReferenceProcess(7), program, started

    return begin


def test_it_is_started_with_the_seed_in_the_courses_folder(speaking):
    """Catches hidden cases of another seed, and a key that is looked for in the student's folder."""
    references, _, ((command, options),) = speaking()
    assert command == ([sys.executable, "-m", "checker.grading.judge.oracle.key", "7"],) and references.seed == 7
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    assert options == {"cwd": ROOT, "text": True, "encoding": "utf-8"} | pipes
    assert reference_process.ANSWER_KEY == "checker.grading.judge.oracle.key"


def test_cases_are_asked_for_once(speaking):
    """Catches cases drawn anew for each submission, and two orders of the same checks taken for two."""
    references, program, _ = speaking(CASES, CASES | {"checks": ["kl"]})
    found = references.cases(["loss", "kl", "kl"])
    assert found == HiddenCases(("kl", "loss"), "abc", ("shared.kl",), ("own",), {"kl": ["tokenizer"]})
    assert references.cases(["kl", "loss"]) is found and references.cases(["kl"]).checks == ("kl",)
    assert program.asked == [{"cases": ["kl", "loss"]}, {"cases": ["kl"]}]
    assert len(program.flushed) == 2 and program.flushed[0].endswith("\n"), "an answer is waited for"


def test_a_verdict_is_read_whole(speaking):
    """Catches a finding that nobody hears of, and points that are lost on the way."""
    references, program, _ = speaking(VERDICT)
    assert references.judge("kl", [None, {"value": 1}]) == HiddenVerdict(False, "no.", True, 0.25, True, ("no.",))
    assert program.asked == [{"judge": "kl", "outcomes": [None, {"value": 1}]}]


def test_what_goes_wrong_there_is_said(speaking):
    """Catches a function that is blamed because the key failed, and a key that ended in silence."""
    references, _, _ = speaking({"error": "Traceback ..."})
    with pytest.raises(RuntimeError) as raised:
        references.judge("kl", [])
    assert str(raised.value) == "The process that knows the references failed:\nTraceback ..."
    for answers in ((), ("no JSON\n",)):
        references, _, _ = speaking(*answers)
        with pytest.raises(RuntimeError) as raised:
            references.judge("kl", [])
        assert str(raised.value) == "The process that knows the references ended (-9)."
    references, program, _ = speaking(VERDICT)
    program.stdin.write = lambda text: (_ for _ in ()).throw(BrokenPipeError)
    with pytest.raises(RuntimeError, match="ended"):
        references.judge("kl", [])


def test_it_is_ended_and_waited_for(speaking):
    references, program, _ = speaking()
    references.close()
    assert program.ended == ["killed", "waited for"]


def test_a_part_of_the_points_is_a_part():
    """Catches points beyond an exercise's worth, and points taken off."""
    shares = [HiddenVerdict(False, "", share=share).earned for share in (0.25, -1.0, 2.0)]
    assert shares == [0.25, 0.0, 1.0] and HiddenVerdict(True, "", share=0.5).earned == 1.0
    plain = HiddenVerdict(True, "")
    assert (plain.finding, plain.share, plain.only_answers_missing) == (False, 0.0, False)
    none = HiddenCases((), "", ())
    assert (none.without_reference, none.supplied_names) == ((), {})
