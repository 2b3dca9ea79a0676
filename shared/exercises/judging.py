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
LONGEST = 6.0  # seconds of waiting for all, if the function does not take longer in one call


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


@dataclass(frozen=True)
class Report:
    """Whom a judge tells how far it is, in case that it is stopped.

    begun: called with the number of a case before the function gets it.
    found: called with a verdict that is right, but might say more if there is time.
    """

    begun: Callable[[int], None] = lambda case: None
    found: Callable[[Verdict], None] = lambda verdict: None


SILENT = Report()


def judge(exercise: Exercise, function: Callable, report: Report = SILENT) -> Verdict:
    """Judge a function, with right ones in the place of its helpers that are wrong."""
    end = time.monotonic() + LONGEST
    verdict = judge_alone(exercise, function, end, report)
    if verdict.passed:
        return verdict
    wrong = []
    for need, helper in helpers_of(exercise, function):
        with with_references(function, wrong):
            if not _passes(need, helper):
                wrong.append(need)
    if not wrong:
        return verdict
    with with_references(function, wrong):
        verdict = judge_alone(exercise, function, end)
    names = tuple(need.function for need in wrong)
    called = " and ".join(f"`{name}`" for name in names)
    rest = "it is right." if verdict.passed else f"it is wrong too: {verdict.text}"
    text = f"first mend {called}, which this one calls. With a right one in its place {rest}"
    return replace(verdict, passed=False, text=text, first=names)


def _passes(exercise: Exercise, function: Callable) -> bool:
    """Whether a function is right in every case, and no more than that."""
    return not any(judged(exercise, function, case)[0] for case in exercise.cases())


def judge_alone(exercise: Exercise, function: Callable, end: float, report: Report = SILENT) -> Verdict:
    """Judge a function as it is, whatever it calls. end: when to be done, by `time.monotonic`."""
    cases = exercise.cases()
    boundary = len(cases) - exercise.draws
    failures = {}
    outcomes = []
    for number, case in enumerate(cases):
        if number > boundary and time.monotonic() > end:
            break  # a slow function, or a slow machine: a verdict on fewer cases is better than none
        report.begun(number)
        way, found, expected = judged(exercise, function, case)
        outcomes.append(found)
        if found.blank:
            return Verdict(exercise.name, False, f"{found.raised}.", number)
        if way and not failures:
            text = told(exercise, way, (), case, found, expected)
            report.found(Verdict(exercise.name, False, text, number + 1))
        if way:
            failures.setdefault(way, []).append(number)
    tried = cases[: len(outcomes)]
    if not failures:
        return Verdict(exercise.name, True, f"right in all {len(tried)} cases.", len(tried))
    return _explained(exercise, function, tried, outcomes, failures, end)


def _explained(
    exercise: Exercise, function: Callable, cases: list[Case], outcomes: list[Outcome], failures: dict, end: float
) -> Verdict:
    """The verdict on a function that fails: the slips that it makes, and the smallest case."""
    way = next(way for way in WAYS if way in failures)
    telling = sorted({number for other, numbers in failures.items() if other != "type" for number in numbers})
    order = sorted(range(len(cases)), key=lambda number: number not in telling)
    slips = ()
    if way not in ("harm", "type"):
        slips = recognised(exercise, [cases[n] for n in order], [outcomes[n] for n in order], _timer(end))

    smallest = _smallest(exercise, function, [cases[number] for number in failures[way]], way, end)
    _, found, expected = judged(exercise, function, smallest)
    text = told(exercise, way, slips, smallest, found, expected)
    return Verdict(exercise.name, False, text, len(cases), tuple(slip.name for slip in slips))


def _smallest(exercise: Exercise, function: Callable, failing: list[Case], way: str, end: float) -> Case:
    """The smallest of the failing cases, made smaller as long as the function fails in the same way."""

    def fails(case: Case) -> bool:
        return judged(exercise, function, case)[0] == way

    return shrunk(exercise, min(failing, key=exercise.size), fails, _timer(end))


def smallest_case(exercise: Exercise, function: Callable) -> Case | None:
    """The smallest case that tells a function from the reference; None where none does."""
    ways = [(judged(exercise, function, case)[0], case) for case in exercise.cases()]
    for way in WAYS:
        failing = [case for found, case in ways if found == way]
        if failing:
            return _smallest(exercise, function, failing, way, time.monotonic() + LONGEST)
    return None


def _timer(end: float) -> Callable[[], bool]:
    """Whether there is time left, counted from now. The processor's time, so that a busy machine finds the same."""
    computed = time.process_time() + TIME_TO_EXPLAIN
    return lambda: time.process_time() < computed and time.monotonic() < end
