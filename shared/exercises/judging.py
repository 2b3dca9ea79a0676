"""The verdict on a function: every case, the smallest one in which it fails, the slips that it makes.

This is what happens inside of the judge's process (`shared/exercises/process.py`), or inside of the kernel where there
is none.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from shared.exercises.calling import Outcome
from shared.exercises.comparing import WAYS, judged
from shared.exercises.exercise import Case, Exercise
from shared.exercises.helpers import helpers_of, with_references
from shared.exercises.recognition import recognised
from shared.exercises.shrinking import shrunk
from shared.exercises.wording import told

RECORD_VERSION = 1
TIME_TO_EXPLAIN = 1.2  # seconds of computing for the slips, and again for the smallest case
LONGEST_EXPLANATION = 2.5  # seconds of waiting for the same: a function may sleep


@dataclass(frozen=True)
class Verdict:
    """What a student is told, and what is recorded.

    text: the sentences behind the name of the exercise. cases: how many were tried. slips: the names of those made.
    first: functions that are to be mended before this one.
    """

    exercise: str
    passed: bool
    text: str
    cases: int = 0
    slips: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.exercise}: {self.text}"

    @property
    def record(self) -> dict:
        facts = asdict(self)
        facts.pop("text")
        return {"version": RECORD_VERSION} | facts


def judge(exercise: Exercise, function: Callable, begun: Callable[[int], None] = lambda case: None) -> Verdict:
    """Judge a function, with right ones in the place of its helpers that are wrong. begun: called before each case."""
    verdict = judge_alone(exercise, function, begun)
    if verdict.passed:
        return verdict
    wrong = []
    for need, helper in helpers_of(exercise, function):
        with with_references(function, wrong):
            if not judge_alone(need, helper, begun=lambda case: None).passed:
                wrong.append(need)
    if not wrong:
        return verdict
    with with_references(function, wrong):
        verdict = judge_alone(exercise, function, begun)
    names = tuple(need.function for need in wrong)
    called = " and ".join(f"`{name}`" for name in names)
    rest = "it is right." if verdict.passed else f"it is wrong too: {verdict.text}"
    text = f"first mend {called}, which this one calls. With a right one in its place {rest}"
    return replace(verdict, passed=False, text=text, first=names)


def judge_alone(exercise: Exercise, function: Callable, begun: Callable[[int], None]) -> Verdict:
    """Judge a function as it is, whatever it calls."""
    cases = exercise.cases()
    failures = {}
    outcomes = []
    for number, case in enumerate(cases):
        begun(number)
        way, found, expected = judged(exercise, function, case)
        outcomes.append(found)
        if found.blank:
            return Verdict(exercise.name, False, f"{found.raised}.", number)
        if way:
            failures.setdefault(way, []).append(number)
    if not failures:
        return Verdict(exercise.name, True, f"right in all {len(cases)} cases.", len(cases))
    way = next(way for way in WAYS if way in failures)
    return _explained(exercise, function, cases, outcomes, failures, way)


def _explained(exercise, function, cases: list[Case], outcomes: list[Outcome], failures: dict, way: str) -> Verdict:
    numbers = sorted({n for of_way, places in failures.items() if of_way != "type" for n in places})
    others = [n for n in range(len(cases)) if n not in set(numbers)]
    order = [*numbers, *others]
    slips = ()
    if way not in ("harm", "type"):
        slips = recognised(exercise, [cases[n] for n in order], [outcomes[n] for n in order], _timer())

    def fails(case: Case) -> bool:
        return judged(exercise, function, case)[0] == way

    start = min((cases[number] for number in failures[way]), key=exercise.size)
    smallest = shrunk(exercise, start, fails, _timer())
    _, found, expected = judged(exercise, function, smallest)
    text = told(exercise, way, slips, smallest, found, expected)
    return Verdict(exercise.name, False, text, len(cases), tuple(slip.name for slip in slips))


def _timer() -> Callable[[], bool]:
    """Whether there is time left, counted from now. The processor's time, so that a busy machine finds the same."""
    computed = time.process_time() + TIME_TO_EXPLAIN
    waited = time.monotonic() + LONGEST_EXPLANATION
    return lambda: time.process_time() < computed and time.monotonic() < waited
