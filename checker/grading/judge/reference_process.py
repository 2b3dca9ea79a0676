"""The process that knows the right answers. The grader asks it for hidden cases and for verdicts.

The process runs `checker/grading/judge/oracle/key.py`, the answer key. It alone imports the references (the course's
own right functions) and torch. No student's code runs in it. A request and its answer are one JSON line each:

    request   {"judge": "square", "outcomes": [{"value": ...}, null]}
    answer    {"passed": false, "text": "it gave 1 of 2 answers. ...", "share": 0.5, ...}
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from checker.grading.box.walls import ROOT

ANSWER_KEY = "checker.grading.judge.oracle.key"


@dataclass(frozen=True)
class HiddenVerdict:
    """The verdict on the function of one check.

    passed: the function is right in all hidden cases.
    text: sentences for the student.
    finding: the instructor should look at it, for instance because the reference was imported.
    share: the part of the points that the right cases earn, from 0 to 1.
    only_answers_missing: it failed because answers are missing. No answer that it gave is wrong.
    mistakes: what is wrong in the course's words alone, for a page that a whole class sees.
    """

    passed: bool
    text: str
    finding: bool = False
    share: float = 0.0
    only_answers_missing: bool = False
    mistakes: tuple[str, ...] = ()

    @property
    def earned(self) -> float:
        """The part of the points that the function earns, from 0 to 1."""
        return 1.0 if self.passed else min(max(self.share, 0.0), 1.0)


@dataclass(frozen=True)
class HiddenCases:
    """The hidden cases of some checks, as a box needs them.

    checks: the names of those checks that have hidden cases.
    pickled: the cases, pickled and base64.
    modules: modules of the project that the box must show, because the cases use them.
    without_reference: the checks on a task of the student's own. Their functions may import anything of the project.
    supplied_names: by check, names that exist whenever its function is called, such as `tokenizer`.
    """

    checks: tuple[str, ...]
    pickled: str
    modules: tuple[str, ...]
    without_reference: tuple[str, ...] = ()
    supplied_names: dict[str, list[str]] = field(default_factory=dict)


class ReferenceProcess:
    """A running answer key for one seed of the hidden cases. `close` ends it."""

    def __init__(self, seed: int):
        self.seed = seed
        self.process = subprocess.Popen(
            [sys.executable, "-m", ANSWER_KEY, str(seed)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.cases_by_checks: dict[tuple[str, ...], HiddenCases] = {}
        self.one_at_a_time = threading.Lock()  # a worker may grade in several threads: each reads its own answer

    def cases(self, checks: Iterable[str]) -> HiddenCases:
        """Return the hidden cases of these checks. They are drawn once."""
        names = tuple(sorted(set(checks)))
        if names not in self.cases_by_checks:
            answer = self._answer_to({"cases": names})
            self.cases_by_checks[names] = HiddenCases(
                checks=tuple(answer["checks"]),
                pickled=answer["pickled"],
                modules=tuple(answer["modules"]),
                without_reference=tuple(answer["without_reference"]),
                supplied_names=answer["supplied_names"],
            )
        return self.cases_by_checks[names]

    def judge(self, check: str, outcomes: list) -> HiddenVerdict:
        """Return the verdict on one outcome for each case; None stands for a case without an answer."""
        answer = self._answer_to({"judge": check, "outcomes": outcomes})
        return HiddenVerdict(
            passed=answer["passed"],
            text=answer["text"],
            finding=answer["finding"],
            share=answer["share"],
            only_answers_missing=answer["only_answers_missing"],
            mistakes=tuple(answer["mistakes"]),
        )

    def number(self, expression: str, program: str) -> float | None:
        """Return the number of `len(train_rows)`, with the worked notebook's lines that make `train_rows`; None for none."""
        return self._answer_to({"number": expression, "program": program})["number"]

    def close(self) -> None:
        """End the process. It has nothing to save."""
        self.process.kill()
        self.process.wait()

    def _answer_to(self, request: dict) -> dict:
        """Send a request and return its answer.

        Raises:
            RuntimeError: the process ended, or the request failed in it.
        """
        try:
            with self.one_at_a_time:
                self.process.stdin.write(json.dumps(request) + "\n")
                self.process.stdin.flush()
                answer = json.loads(self.process.stdout.readline())
        except (OSError, ValueError) as error:
            raise RuntimeError(f"The process that knows the references ended ({self.process.poll()}).") from error
        if "error" in answer:
            raise RuntimeError(f"The process that knows the references failed:\n{answer['error']}")
        return answer
