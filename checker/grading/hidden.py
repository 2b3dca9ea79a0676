"""A student's functions on hidden cases: called in a box, judged outside by a process that knows what is right."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace

from checker.grading import modules
from checker.grading.boxes import ROOT, Isolation, box
from checker.grading.functions import Definitions, Taken, take
from checker.grading.isolation import Outcome, run_submission
from checker.grading.items import Check
from checker.grading.limits import Limits
from checker.grading.sheets import Sheet

SECONDS = 20.0  # for all cases of one function
MOST_CASES = 10_000  # no exercise has as many; a submission may write any number into its answers
STARTING = 60.0  # seconds for the box to import torch on a busy machine
IMPORTED = ("torch", "shared.exercises.calling")


@dataclass(frozen=True)
class Verdict:
    """What is said of one check.

    finding: whether it is a matter for the instructor, such as an imported reference.
    share: of the points, from 0 to 1, where it is right in some cases and not in all.
    """

    passed: bool
    text: str
    finding: bool = False
    share: float = 0.0

    @property
    def earned(self) -> float:
        """The part of the points that it earns."""
        return 1.0 if self.passed else min(max(self.share, 0.0), 1.0)


@dataclass(frozen=True)
class Asked:
    """The cases of some checks: which have any, the pickle for the box, and the modules that it names.

    free: those without a reference, whose functions may import what they like of the project.
    """

    known: tuple[str, ...]
    pickled: str
    modules: tuple[str, ...]
    free: tuple[str, ...] = ()


class Key:
    """The process that knows what is right, for one seed. It ends with this object's `close`."""

    def __init__(self, seed: int):
        self.seed = seed
        command = [sys.executable, "-m", "checker.grading.apart.key", str(seed)]
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.process = subprocess.Popen(command, cwd=ROOT, **pipes)
        self.asked: dict[tuple[str, ...], Asked] = {}
        self.one_at_a_time = threading.Lock()  # a worker may grade in several threads: each reads its own answer

    def cases(self, checks: Iterable[str]) -> Asked:
        """The cases of these checks, drawn once."""
        names = tuple(sorted(set(checks)))
        if names not in self.asked:
            answer = self._ask({"cases": names})
            self.asked[names] = Asked(
                tuple(answer["known"]), answer["pickled"], tuple(answer["modules"]), tuple(answer["free"])
            )
        return self.asked[names]

    def judge(self, check: str, outcomes: list) -> Verdict:
        """The verdict on one outcome for each case, None where there is none."""
        answer = self._ask({"judge": check, "outcomes": outcomes})
        return Verdict(answer["passed"], answer["text"], answer["finding"], answer["share"])

    def _ask(self, request: dict) -> dict:
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

    def close(self) -> None:
        self.process.kill()  # it has nothing to save
        self.process.wait()


def verdicts(
    student: Definitions, sheet: Sheet, key: Key, isolation: Isolation, limits: Limits
) -> dict[Check, Verdict]:
    """The verdict on each check of a sheet; none on one without hidden cases, which is the instructor's to judge.

    A function that fails only because another one, which is an exercise itself, is wrong is right: it is tried again
    with the worked solution in that one's place, in a box of its own.

    Raises:
        BoxFailed: a box did, and not a function.
    """
    known = key.cases(check.name for check in sheet.checks).known
    checks = [check for check in sheet.checks if check.name in known]
    taken = {check: take(check.function, student, sheet.definitions, beside=check.beside) for check in checks}
    found = _tried(taken, sheet, key, isolation, limits)
    wrong = frozenset(check.function for check, verdict in found.items() if not verdict.passed)
    again = {}
    for check in checks:
        others = wrong - {check.function}
        if not found[check].passed and others:
            mended = take(check.function, student, sheet.definitions, others, check.beside)
            if mended.source != taken[check].source and not mended.problem:
                again[check] = mended
    for check, verdict in _tried(again, sheet, key, isolation, limits).items():
        if verdict.passed:
            found[check] = Verdict(True, "right, once the functions that it calls are right.")
        elif verdict.earned > found[check].earned:
            found[check] = replace(
                verdict, text=f"{verdict.text}\nSo it is once the functions that it calls are right."
            )
    return found


def _tried(
    programs: dict[Check, Taken], sheet: Sheet, key: Key, isolation: Isolation, limits: Limits
) -> dict[Check, Verdict]:
    """The verdicts on programs, those that may import the same of the project in one box."""
    found = {}
    groups: dict[frozenset[str], dict[Check, Taken]] = {}
    free = key.cases(check.name for check in programs).free
    for check, taken in programs.items():
        own = taken.imports if check.name in free else frozenset()
        allowed = modules.names(sheet.imports[check.function] | own)
        if taken.problem:
            found[check] = Verdict(False, taken.problem)
        elif refused := modules.refused(taken.imports, allowed):
            found[check] = Verdict(
                False,
                f"`{check.function}` uses {', '.join(refused)}, which this exercise does not allow: it is to be written,"
                " not imported.",
                finding=True,
            )
        else:
            groups.setdefault(allowed, {})[check] = taken
    for allowed, together in groups.items():
        found |= _in_one_box(together, allowed, key, isolation, limits)
    return found


def _in_one_box(
    programs: dict[Check, Taken], allowed: frozenset[str], key: Key, isolation: Isolation, limits: Limits
) -> dict[Check, Verdict]:
    asked = key.cases(check.name for check in programs)
    shown = [(ROOT / "checker", "checker")]
    visible = modules.files((*modules.CALLING, *asked.modules, *allowed))
    shown += [(path, inside) for inside, path in sorted(visible.items())]
    job = {
        "do": "answers",
        "cases": asked.pickled,
        "imports": IMPORTED,
        "functions": [
            {
                "key": f"{number}",
                "cases": check.name,
                "source": taken.source,
                "name": check.function,
                "seconds": SECONDS,
            }
            for number, (check, taken) in enumerate(programs.items())
        ],
    }
    wall = min(limits.wall, STARTING + SECONDS * len(programs))
    outcome = run_submission(box(isolation, shown, Limits(**(vars(limits) | {"wall": wall}))), job)
    records = {check: [r for r in outcome.records if r.get("key") == f"{n}"] for n, check in enumerate(programs)}
    rest = _cut_short(list(programs), records, outcome)
    found = {check: _verdict(check, records[check], outcome, key) for check in programs if check not in rest}
    if rest:
        found |= _in_one_box({check: programs[check] for check in rest}, allowed, key, isolation, limits)
    return found


def _cut_short(checks: list[Check], records: dict[Check, list[dict]], outcome: Outcome) -> list[Check]:
    """The checks that get another box, since this one was ended over a limit before they were through.

    Which function it was is known of the first in a box alone: it is judged as it is.
    """
    if outcome.finished:
        return []
    through = [check for check in checks if records[check]][:-1]
    rest = [check for check in checks if check not in through]
    return rest[1:] if rest == checks else rest


def _verdict(check: Check, records: list[dict], outcome: Outcome, key: Key) -> Verdict:
    """What the records of one function come to."""
    answers = {
        r["case"]: r["outcome"]
        for r in records
        if isinstance(r.get("outcome"), dict) and r.get("case") in range(MOST_CASES)
    }
    ended = next((str(record["ended"]) for record in records if "ended" in record), "")
    judged = key.judge(check.name, [answers.get(number) for number in range(max(answers, default=-1) + 1)])
    reason = ended or outcome.stopped
    if judged.passed or not reason or not judged.text.startswith("it gave "):
        return judged
    return replace(judged, text=f"{reason}; {judged.text}")
