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
from shared.exercises.steps import Slip
from shared.exercises.wording import told

RECORD_VERSION = 1
TIME_TO_RECOGNISE = 1.0  # seconds of computing for the slips
TIME_TO_EXPLAIN = 1.7  # and with the smallest case
LONGEST = 6.0  # seconds of computing, and of waiting, for all, if the function does not take longer in one call


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


@dataclass(frozen=True)
class Trial:
    """What became of a function in the cases that were tried.

    failures: the numbers of the cases in which it fails, by the way in which it does. stopped: the verdict on a function
    that is not filled in, None for any other.
    """

    cases: list[Case]
    outcomes: list[Outcome]
    failures: dict[str, list[int]]
    stopped: Verdict | None = None


@dataclass(frozen=True)
class Explanation:
    """What a verdict tells of a wrong function: in what it differs (one of WAYS), its slips, the smallest case."""

    way: str
    slips: tuple[Slip, ...]
    smallest: Case


def judge(exercise: Exercise, function: Callable, report: Report = SILENT) -> Verdict:
    """Judge a function, with right ones in the place of its helpers that are wrong."""
    end = _timer(LONGEST, time.monotonic() + LONGEST)
    trial = tried(exercise, function, end, report)
    if trial.stopped or not trial.failures:
        return _verdict(exercise, function, trial, end)
    wrong = []
    for need, helper in helpers_of(exercise, function):
        with with_references(function, wrong):
            if not _passes(need, helper):
                wrong.append(need)
    if not wrong:
        return _verdict(exercise, function, trial, end)
    with with_references(function, wrong):
        verdict = _verdict(exercise, function, tried(exercise, function, end), end)
    names = tuple(need.function for need in wrong)
    called = " and ".join(f"`{name}`" for name in names)
    rest = "it is right." if verdict.passed else f"it is wrong too: {verdict.text}"
    text = f"first mend {called}, which this one calls. With a right one in its place {rest}"
    return replace(verdict, passed=False, text=text, first=names)


def _passes(exercise: Exercise, function: Callable) -> bool:
    """Whether a function is right in every case, and no more than that."""
    return not any(judged(exercise, function, case)[0] for case in exercise.cases())


def tried(exercise: Exercise, function: Callable, time_left: Callable[[], bool], report: Report = SILENT) -> Trial:
    """Try a function as it is, whatever it calls: in every boundary case, in the drawn ones as long as there is time."""
    cases = exercise.cases()
    boundary = len(cases) - exercise.draws
    failures = {}
    outcomes = []
    for number, case in enumerate(cases):
        if number > boundary and not time_left():
            break  # a slow function, or a slow machine: a verdict on fewer cases is better than none
        report.begun(number)
        way, found, expected = judged(exercise, function, case)
        outcomes.append(found)
        if found.blank:
            stopped = Verdict(exercise.name, False, f"{found.raised}.", number)
            return Trial(cases, outcomes, failures, stopped)
        if way and not failures:
            text = told(exercise, way, (), case, found, expected)
            report.found(Verdict(exercise.name, False, text, number + 1))
        if way:
            failures.setdefault(way, []).append(number)
    return Trial(cases[: len(outcomes)], outcomes, failures)


def _verdict(exercise: Exercise, function: Callable, trial: Trial, time_left: Callable[[], bool]) -> Verdict:
    """What a trial comes to: of a function that fails the slips that it makes, and the smallest case."""
    if trial.stopped:
        return trial.stopped
    count = len(trial.cases)
    if not trial.failures:
        return Verdict(exercise.name, True, f"right in all {count} cases.", count)
    why = _explained(exercise, function, trial, time_left)
    _, found, expected = judged(exercise, function, why.smallest)
    text = told(exercise, why.way, why.slips, why.smallest, found, expected)
    return Verdict(exercise.name, False, text, count, tuple(slip.name for slip in why.slips))


def _explained(exercise: Exercise, function: Callable, trial: Trial, time_left: Callable[[], bool]) -> Explanation:
    explaining = _timer(TIME_TO_EXPLAIN)
    slips = _slips(exercise, trial, time_left)
    smallest = _smallest(exercise, function, trial, lambda: explaining() and time_left())
    return Explanation(_way(trial), slips, smallest)


def _way(trial: Trial) -> str:
    """What is said first of a function that fails in several ways."""
    return next(way for way in WAYS if way in trial.failures)


def _slips(exercise: Exercise, trial: Trial, time_left: Callable[[], bool]) -> tuple[Slip, ...]:
    """The slips that explain every outcome, asked first of the cases that differ in more than a type.

    () where none do, and for a function whose values and gradients are right.
    """
    if _way(trial) in ("harm", "type"):
        return ()
    recognising = _timer(TIME_TO_RECOGNISE)
    telling = {number for way, numbers in trial.failures.items() if way != "type" for number in numbers}
    order = sorted(range(len(trial.cases)), key=lambda number: number not in telling)
    cases = [trial.cases[number] for number in order]
    outcomes = [trial.outcomes[number] for number in order]
    return recognised(exercise, cases, outcomes, lambda: recognising() and time_left())


def _smallest(exercise: Exercise, function: Callable, trial: Trial, time_left: Callable[[], bool]) -> Case:
    """The smallest of the failing cases, made smaller as long as the function fails in the same way."""
    way = _way(trial)
    failing = [trial.cases[number] for number in trial.failures[way]]

    def fails(case: Case) -> bool:
        return judged(exercise, function, case)[0] == way

    return shrunk(exercise, min(failing, key=exercise.size), fails, time_left)


def slips_made(exercise: Exercise, function: Callable) -> tuple[Slip, ...] | None:
    """The slips that a verdict names; () where none explain what the function does, None where it is right."""
    time_left = _timer(LONGEST)
    trial = tried(exercise, function, time_left)
    return _slips(exercise, trial, time_left) if trial.failures else None


def explanation(exercise: Exercise, function: Callable) -> Explanation | None:
    """What a verdict tells of a wrong function; None for a right one."""
    time_left = _timer(LONGEST)
    trial = tried(exercise, function, time_left)
    return _explained(exercise, function, trial, time_left) if trial.failures else None


def _timer(seconds: float, end: float = float("inf")) -> Callable[[], bool]:
    """Whether there is time left: so many seconds of the processor, counted from now, and the clock is not past `end`.

    The processor's time, so that a busy machine finds the same.
    """
    computed = time.process_time() + seconds
    return lambda: time.process_time() < computed and time.monotonic() < end
