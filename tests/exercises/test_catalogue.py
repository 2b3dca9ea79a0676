"""What is asked of every exercise of the catalogue."""

import importlib
import random
from dataclasses import replace

import pytest

from shared.exercises import catalogue
from shared.exercises.calling import call
from shared.exercises.comparing import judged, near, same
from shared.exercises.judging import judge
from tests.exercises.mutants import mutants_of

pytestmark = pytest.mark.usefixtures("patient_judge")
EXERCISES = catalogue.EXERCISES
NAMES = list(EXERCISES)
ABOUT = {name: importlib.import_module(f"tests.exercises.right.{name}") for name in NAMES}
SLIPS = [(name, slip) for name in NAMES for slip in EXERCISES[name].steps.slips]
RIGHT = [(name, function) for name in NAMES for function in ABOUT[name].RIGHT]
SHARE_REJECTED = 0.98


def named(value) -> str | None:
    return getattr(value, "name", getattr(value, "__name__", None))


def rejected(exercise, function, seed: int) -> bool:
    """Whether a case of this seed tells the function from the reference."""
    return any(judged(exercise, function, case)[0] for case in exercise.cases(seed))


def test_how_many_slips_and_right_functions_there_are():
    assert len(SLIPS) >= 500
    assert len(RIGHT) >= 100


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_passes_and_is_the_courses_own_function(name):
    """Catches a reference, made of steps, that is not what the course computes."""
    exercise = EXERCISES[name]
    verdict = judge(exercise, exercise.reference())
    assert verdict.passed, verdict.text
    if ABOUT[name].ORACLE is None:
        return
    for case in exercise.cases():
        way, found, expected = judged(exercise, ABOUT[name].ORACLE, case)
        assert not way, (way, case, found, expected)


@pytest.mark.parametrize(("name", "function"), RIGHT, ids=named)
def test_what_is_right_in_another_way_passes(name, function):
    """Catches a case that no right function has to bear, a tie, and a type that works below as well."""
    verdict = judge(EXERCISES[name], function)
    assert verdict.passed, verdict.text


def few_slips() -> list:
    """Of each exercise three slips, drawn by its name; `make test-all` tries them all."""
    rows = []
    for name in NAMES:
        slips = EXERCISES[name].steps.slips
        few = random.Random(name).sample(slips, 3)
        rows += [pytest.param(name, slip, marks=[] if slip in few else pytest.mark.slow) for slip in slips]
    return rows


@pytest.mark.parametrize(("name", "slip"), few_slips(), ids=named)
def test_each_slip_is_recognised_by_name(name, slip):
    """Catches a slip that the cases cannot tell from the right function, or from another slip."""
    exercise = EXERCISES[name]
    verdict = judge(exercise, exercise.reference((slip,)))
    assert not verdict.passed
    assert verdict.slips == (slip.name,), verdict.text
    assert len(verdict.line.splitlines()) <= 10


def pair_fails(exercise, slips) -> str:
    """What is wrong with the verdict on two slips: "" when it names them, or others that do the same everywhere."""
    function = exercise.reference(slips)
    verdict = judge(exercise, function)
    if verdict.passed:
        return "passes"
    if set(verdict.slips) == {slip.name for slip in slips}:
        return ""
    if not verdict.slips:
        return "is not recognised"
    other = exercise.reference(tuple(slip for slip in exercise.steps.slips if slip.name in verdict.slips))
    alike = all(
        same(call(exercise, function, case), call(exercise, other, case), exercise.tolerance)
        for case in exercise.cases()
    )
    return "" if alike else f"is taken for {verdict.slips}"


def pairs_of(name: str) -> list:
    return [slips for slips in EXERCISES[name].steps.combinations() if len(slips) == 2]


def failing_pairs(name: str, pairs: list) -> dict:
    untold = getattr(ABOUT[name], "UNTOLD", {})
    failing = {}
    for slips in pairs:
        key = (slips[0].name, slips[1].name)
        if key not in untold and (why := pair_fails(EXERCISES[name], slips)):
            failing[key] = why
    return failing


@pytest.mark.parametrize("name", NAMES)
def test_some_pairs_of_slips_are_named_or_told_apart(name):
    assert failing_pairs(name, random.Random(0).sample(pairs_of(name), 2)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_pair_of_slips_is_named_or_told_apart(name):
    """Catches two mistakes at once that pass, or for which a student is told something else."""
    assert failing_pairs(name, pairs_of(name)) == {}


def accepted_mutants(name: str, seed: int) -> tuple[list[str], int]:
    """The mutants that pass although no reason is given why they may, and how many there are that may not."""
    exercise = EXERCISES[name]
    equivalent = getattr(ABOUT[name], "EQUIVALENT", {})
    tried = [mutant for mutant in mutants_of(exercise) if mutant.change not in equivalent]
    return [m.change for m in tried if not rejected(exercise, m.function, seed)], len(tried)


@pytest.mark.parametrize("name", [name for name in NAMES if EXERCISES[name].draws > 30])
def test_mutants_of_the_reference_are_rejected(name):
    """Catches a check with cases that leave something about the function open."""
    accepted, tried = accepted_mutants(name, seed=0)
    assert len(accepted) <= (1 - SHARE_REJECTED) * tried, accepted


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_mutants_of_the_reference_are_rejected_over_twenty_seeds(name):
    for seed in range(20):
        accepted, tried = accepted_mutants(name, seed)
        assert len(accepted) <= (1 - SHARE_REJECTED) * tried, (seed, accepted)


def test_a_case_is_the_same_for_everybody():
    """Catches chance that depends on the process, and cases that differ from call to call."""
    for exercise in EXERCISES.values():
        first, second = exercise.cases(), exercise.cases()
        assert len(first) == len(second)
        for one, other in zip(first, second):
            found, again = call(exercise, exercise.reference(), one), call(exercise, exercise.reference(), other)
            if isinstance(found.value, str):
                assert found.value == again.value
            else:
                assert near(found.value, again.value, 0.0)


def test_a_mutant_is_accepted_by_an_exercise_of_one_case():
    """The test of mutants sees what it is about: with the first boundary case alone many pass."""
    exercise = replace(EXERCISES["loss"], boundary=lambda: EXERCISES["loss"].cases()[1:2], draws=0)
    accepted = [m for m in mutants_of(exercise) if not rejected(exercise, m.function, 0)]
    assert len(accepted) > 5
