"""Judge a student's function: try it in many cases, and say what is wrong with it and where that shows.

An exercise asks for one function. Its *reference* is the right function, and a *case* holds the arguments of one call.
`judge` calls both in every case (`comparing.py`), finds the mistake (`recognition.py`), simplifies a case in which it
shows (`shrinking.py`) and writes the sentences (`wording.py`). The result is a *verdict* (see CONTRIBUTING: house words).
This one is on a `per_token_kl` that gives k2, another estimator, in the place of k3:

    ✗ per-token KL: This is k2 = x² / 2: never negative, but biased.
    For logps 0, ref_logps -1 it gives 0.5, expected 0.3679.

The first sentence tells the *slip*, a known mistake that is declared with the exercise: the reference with this
slip does in all 125 cases what the student's function does. The second shows the smallest case in which it fails. What
to write, "Asked for is k3 = exp(x) - x - 1.", is the verdict's hint, for who asks.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from torch import Tensor

from shared.exercises.calling import NOT_FILLED_IN, Outcome, call
from shared.exercises.comparing import Comparison, Difference, compare, same_outcome
from shared.exercises.exercise import Case, Exercise
from shared.exercises.helpers import helpers_of, with_references
from shared.exercises.recognition import find_explanations
from shared.exercises.remarks import remark_on
from shared.exercises.shrinking import shrink
from shared.exercises.steps import Slip
from shared.exercises.unread import unread
from shared.exercises.wording import describe, hint_for, shown

RECORD_VERSION = 1
TYPOS = ("it raised NameError", "it raised UnboundLocalError")  # which say themselves what is wrong
RIGHT, WRONG, OPEN = "✓✗○"
# Limits in seconds. Each leaves something for the next step: the slips, then the smallest case, then the text. All
# three end before the 8 seconds after which `process.py` kills a judge.
TIME_FOR_SLIPS = 1.9
TIME_FOR_EXPLANATION = 2.4  # the slips and the smallest case together
TIME_FOR_REMARK = 0.8
LARGE = 100  # numbers and characters of a case
FEWEST_THE_SAME = 3  # cases in which a function gives the same, before it is told so
MOST_OFFERED = 2  # explanations that no case tells apart: "either ... or ..."
CALLS = 6  # with the same arguments, to see chance at work
TIME_FOR_VERDICT = 6.0  # by the processor and by the clock; only a single call may take longer

TimeLeft = Callable[[], bool]  # returns True until time is up


@dataclass(frozen=True)
class Verdict:
    """The verdict on a function: the text that a student reads, and the facts that are recorded.

    exercise: the name of the exercise, "per-token KL".
    passed: whether the function is right.
    text: the sentences behind the name of the exercise.
    hint: why, and what to write; "" where no known mistake was found.
    cases: the number of cases that were tried.
    slips: the names of the slips that the function makes, whichever of the explanations offered is its own.
    first: the names of the functions that have to be mended before this one, because it calls them.
    right_after: whether this one is right once they are.
    """

    exercise: str
    passed: bool
    text: str
    cases: int = 0
    slips: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    right_after: bool = False
    hint: str = ""

    @property
    def mark(self) -> str:
        """✓ right, ✗ wrong, ○ open: not filled in yet."""
        if self.passed:
            return RIGHT
        return OPEN if self.text.startswith(NOT_FILLED_IN) else WRONG

    @property
    def line(self) -> str:
        """The verdict as it is shown: "✓ per-token KL: right in all 125 cases."."""
        return f"{self.mark} {self.exercise}: {self.text}"

    @property
    def record(self) -> dict:
        """The facts, without the words, in the form in which a notebook keeps them."""
        facts = asdict(self)
        del facts["text"], facts["hint"]
        return {"version": RECORD_VERSION} | facts


@dataclass(frozen=True)
class Listener:
    """Two functions that a judge calls on its way, so that something is known when it has to be stopped.

    on_case: called with the number of a case before the student's function is called in it.
    on_verdict: called with a verdict that is right, but would say more if there were time.
    """

    on_case: Callable[[int], None] = lambda number: None
    on_verdict: Callable[[Verdict], None] = lambda verdict: None


NOBODY = Listener()


@dataclass(frozen=True)
class Trial:
    """A function beside the reference in the cases that were tried, in their order.

    comparisons: one for each case.
    blank: the outcome that shows that the function is not filled in yet; None for any other function.
    kept: the name of a list, a set or a dict of the notebook's in which the function has put something; "" for none.
    """

    comparisons: list[Comparison]
    blank: Outcome | None = None
    kept: str = ""

    @property
    def failures(self) -> dict[Difference, list[Comparison]]:
        """The comparisons in which the function fails, by the way in which it fails there; {} when it is right."""
        failures = {}
        for comparison in self.comparisons:
            if comparison.difference:
                failures.setdefault(comparison.difference, []).append(comparison)
        return failures

    @property
    def main_difference(self) -> Difference:
        """The most important way in which the function fails. Only for a function that fails."""
        failures = self.failures
        return next(difference for difference in Difference if difference in failures)


@dataclass(frozen=True)
class Explanation:
    """The explanation of a wrong function.

    difference: the most important way in which it fails.
    slips: what explains everything that it does, one known mistake or two; two of these where no case tells them apart,
        and empty when none do.
    smallest: a case, as small as could be found, in which it fails in this way.
    remark: a sentence on all of its outcomes, where it has no slips; "" for none.
    """

    difference: Difference
    slips: list[tuple[Slip, ...]]
    smallest: Case
    remark: str = ""


def judge(exercise: Exercise, function: Callable, listener: Listener = NOBODY) -> Verdict:
    """Judge a student's function.

    A *helper* is the student's function for another exercise, which this function calls. If helpers are wrong or not
    filled in, the function is judged with the references in their places, so that it is not blamed for them.

    Args:
        function: the student's function; its helpers are found among the variables of its notebook.
        listener: is called on the way.

    Returns:
        The verdict. If helpers are wrong, it has not passed and says which to fill in or to mend first.
    """
    time_left = _start_timer(TIME_FOR_VERDICT, within=_start_clock(TIME_FOR_VERDICT))
    trial = try_cases(exercise, function, time_left, listener)
    if not trial.blank and not trial.failures:
        return _verdict_on(exercise, function, trial, time_left)
    blank_helpers, wrong_helpers = _find_wrong_helpers(exercise, function)
    if not blank_helpers and not wrong_helpers:
        return _verdict_on(exercise, function, trial, time_left)
    with with_references(function, blank_helpers + wrong_helpers):
        trial = try_cases(exercise, function, time_left)
        verdict = _verdict_on(exercise, function, trial, time_left)
    return verdict if trial.blank else _helpers_first(verdict, blank_helpers, wrong_helpers)


def try_cases(exercise: Exercise, function: Callable, time_left: TimeLeft, listener: Listener = NOBODY) -> Trial:
    """Compare a function with the reference in the cases of the exercise.

    Boundary cases, written by hand, come first; drawn cases follow. All boundary cases and one drawn case are always
    tried, and the others as long as there is time: on a slow machine a verdict on fewer cases is better than none.
    The trial ends at once when the function says that it is not filled in.
    """
    cases = exercise.cases()
    boundary_count = len(cases) - exercise.draws
    always_tried = boundary_count + 1
    comparisons = []
    failed = False
    before = _containers(function)
    for number, case in enumerate(cases):
        if number >= always_tried and not time_left():
            break
        listener.on_case(number)
        comparison = compare(exercise, function, case)
        if comparison.actual.blank:
            return Trial(comparisons, blank=comparison.actual)
        comparisons.append(comparison)
        if comparison.difference and not failed:
            failed = True
            text = describe(exercise, comparison)
            listener.on_verdict(Verdict(exercise.name, passed=False, text=text, cases=number + 1))
    after = _containers(function)
    return Trial(comparisons, kept=next((name for name in before if after.get(name, 0) > before[name]), ""))


def _containers(function: Callable) -> dict[str, int]:
    """By its name the length of each list, set and dict that a function finds in its notebook."""
    code, variables = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    found = {name: variables.get(name) for name in getattr(code, "co_names", ())}
    return {name: len(value) for name, value in found.items() if type(value) in (list, set, dict)}


def _find_wrong_helpers(exercise: Exercise, function: Callable) -> tuple[list[Exercise], list[Exercise]]:
    """The exercises whose functions this one calls as helpers: those that are not filled in, and those that are wrong.

    The innermost helper comes first. A helper that calls one of these is tried with the reference in its place.
    """
    blank_helpers, wrong_helpers = [], []
    for helper_exercise, helper in helpers_of(exercise, function):
        with with_references(function, blank_helpers + wrong_helpers):
            failure = _first_failure(helper_exercise, helper)
        if failure:
            (blank_helpers if failure.actual.blank else wrong_helpers).append(helper_exercise)
    return blank_helpers, wrong_helpers


def _first_failure(exercise: Exercise, function: Callable) -> Comparison | None:
    """The first case in which a function is not right; None for one that is right in every case."""
    comparisons = (compare(exercise, function, case) for case in exercise.cases())
    return next((comparison for comparison in comparisons if comparison.difference), None)


def _helpers_first(verdict: Verdict, blank_helpers: list[Exercise], wrong_helpers: list[Exercise]) -> Verdict:
    """The verdict on a function with right helpers, turned into "fill in, or mend, the helpers first"."""
    to_do = {"fill in": [one.function for one in blank_helpers], "mend": [one.function for one in wrong_helpers]}
    first = " and ".join(f"{verb} {' and '.join(f'`{n}`' for n in names)}" for verb, names in to_do.items() if names)
    rest = "it is right." if verdict.passed else f"it is wrong too: {verdict.text}"
    text = f"first {first}, which this one calls. With a right one in its place {rest}"
    return replace(verdict, passed=False, text=text, first=tuple(sum(to_do.values(), [])), right_after=verdict.passed)


def _verdict_on(exercise: Exercise, function: Callable, trial: Trial, time_left: TimeLeft) -> Verdict:
    """The verdict on a function that has been tried."""
    count = len(trial.comparisons)
    if trial.blank:
        return Verdict(exercise.name, passed=False, text=f"{trial.blank.raised}.", cases=count)
    if not trial.failures:
        return Verdict(exercise.name, passed=True, text=f"right in all {count} cases.", cases=count)
    explanation = _explain_trial(exercise, function, trial, time_left)
    comparison = compare(exercise, function, explanation.smallest)
    if comparison.difference != explanation.difference:
        # It draws random numbers, or counts its calls, and does something else now. It is told as it failed.
        comparison = min(trial.failures[explanation.difference], key=lambda one: exercise.size(one.case))
    return Verdict(
        exercise.name,
        passed=False,
        text=describe(exercise, comparison, explanation.slips, explanation.remark),
        cases=count,
        slips=_in_all(explanation.slips),
        hint=hint_for(explanation.slips),
    )


def _explain_trial(exercise: Exercise, function: Callable, trial: Trial, time_left: TimeLeft) -> Explanation:
    """Explain a function that fails: first its slips, then, in the time that they leave, the smallest case."""
    time_left_to_explain = _start_timer(TIME_FOR_EXPLANATION, within=time_left)
    slips = slips_in(exercise, trial, time_left)
    smallest = _smallest_failure(exercise, function, trial, time_left_to_explain)
    remark = "" if slips else _remark(exercise, function, trial, smallest, time_left)
    return Explanation(trial.main_difference, slips, smallest, remark)


def _in_all(slips: list[tuple[Slip, ...]]) -> tuple[str, ...]:
    """The names of the slips that all explanations have."""
    return tuple(slip.name for slip in slips[0] if all(slip in other for other in slips)) if slips else ()


def _remark(exercise: Exercise, function: Callable, trial: Trial, smallest: Case, time_left: TimeLeft) -> str:
    """A sentence on all outcomes of a function that no slips explain, "" for none."""
    if trial.main_difference not in (Difference.RAISED, Difference.SHAPE, Difference.VALUE) or _has_a_typo(trial):
        return ""
    remark = always_the_same(exercise, trial) or _from_call_to_call(exercise, function, trial, smallest)
    if remark:
        return remark
    if trial.kept:
        return (
            f"it keeps something in `{trial.kept}` from one call to the next. Each call is about its arguments alone."
        )
    names = unread(exercise, function)
    if names:
        return f"it never reads its argument {' or '.join(f'`{name}`' for name in names)}."
    return remark_on(exercise, function, trial.comparisons, _start_timer(TIME_FOR_REMARK, within=time_left))


def slips_in(exercise: Exercise, trial: Trial, time_left: TimeLeft) -> list[tuple[Slip, ...]]:
    """Find what explains every outcome of a function that fails.

    Returns:
        One explanation, a slip or two at once, or two explanations that no case tells apart. Empty when more explain
        every outcome or none does, when no time is left, and for a function whose numbers are all right or all the same.
    """
    if trial.main_difference.has_right_numbers or always_the_same(exercise, trial) or _has_a_typo(trial):
        return []
    # Cases with wrong numbers come first, the small ones of these before the large: a wrong guess is refuted there soonest.
    wrong_first = sorted(
        trial.comparisons,
        key=lambda one: (one.difference in (None, Difference.TYPE), exercise.size(one.case) > LARGE),
    )
    cases = [comparison.case for comparison in wrong_first]
    outcomes = [comparison.actual for comparison in wrong_first]
    found = find_explanations(exercise, cases, outcomes, _start_timer(TIME_FOR_SLIPS, within=time_left))
    return found if len(found) <= MOST_OFFERED else []


def _has_a_typo(trial: Trial) -> bool:
    """True for a function that asks for a name that nobody knows: whatever else it does may follow from that."""
    return any((one.actual.raised or "").startswith(TYPOS) for one in trial.comparisons)


def always_the_same(exercise: Exercise, trial: Trial) -> str:
    """A sentence on a function that gives one number, or one text, in every case, "" on any other.

    A slip would be named by chance: what gives 0 whatever it gets has read nothing and made no mistake in reading.
    """
    if trial.main_difference != Difference.VALUE or len(trial.comparisons) < FEWEST_THE_SAME:
        return ""
    given = set().union(*(_values(exercise, one.case, one.actual.value) for one in trial.comparisons))
    expected = set().union(*(_values(exercise, one.case, one.expected.value) for one in trial.comparisons))
    if len(given) != 1 or len(expected) < 2:
        return ""
    (only,) = given
    return "" if only is None else f"it gives {shown(only)} whatever it gets."


def _values(exercise: Exercise, case: Case, value: Tensor | str | None) -> set:
    """The different numbers of a result where it matters, or its text; None for no result."""
    if not isinstance(value, Tensor):
        return {value}
    if exercise.relevant and value.shape == case[exercise.relevant].shape:
        value = value[case[exercise.relevant] != 0]
    return set(value.flatten().tolist())


def _from_call_to_call(exercise: Exercise, function: Callable, trial: Trial, case: Case) -> str:
    """A sentence on a function that does not give the same twice for the same arguments, "" on any other."""
    if trial.main_difference != Difference.VALUE:
        return ""
    first, *others = (call(exercise, function, case, with_gradient=False) for _ in range(CALLS))
    if all(same_outcome(first, other, exercise.tolerance) for other in others):
        return ""
    return "it gives something else when it is called again: it draws chance of its own, or keeps what it had before."


def _smallest_failure(exercise: Exercise, function: Callable, trial: Trial, time_left: TimeLeft) -> Case:
    """A small failing case: the smallest that was tried, simplified while the function fails in the same way."""
    difference = trial.main_difference
    failing_cases = [comparison.case for comparison in trial.failures[difference]]
    smallest_tried = min(failing_cases, key=exercise.size)

    def fails_in_the_same_way(case: Case) -> bool:
        return compare(exercise, function, case).difference == difference

    return shrink(exercise, smallest_tried, fails_in_the_same_way, time_left)


def explain(exercise: Exercise, function: Callable) -> Explanation | None:
    """The explanation of a wrong function; None for a right one."""
    time_left = _start_timer(TIME_FOR_VERDICT)
    trial = try_cases(exercise, function, time_left)
    return _explain_trial(exercise, function, trial, time_left) if trial.failures else None


def _start_timer(seconds: float, within: TimeLeft = lambda: True) -> TimeLeft:
    """Start a timer of computing time, and return the function that says whether time is left.

    Computing time does not pass while other programs run, so that a verdict on a busy machine is the same.

    Args:
        within: another timer; when its time is up, so is the time of this one.
    """
    end = time.process_time() + seconds
    return lambda: time.process_time() < end and within()


def _start_clock(seconds: float) -> TimeLeft:
    """Start a timer that goes by the clock, and return the function that says whether time is left."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end
