"""Demands on every exercise of the catalogue."""

import importlib
import random
from dataclasses import replace

import pytest

from shared.exercises import catalogue, comparing, recognition
from shared.exercises.calling import call
from shared.exercises.comparing import compare, near
from shared.exercises.exercise import Exercise
from shared.exercises.judging import judge
from shared.exercises.steps import Steps
from tests.conftest import few_of
from tests.exercises.mutants import accepted, mutants_of
from tests.exercises.pairs import pairs_not_told, pairs_of, pairs_that_pass

pytestmark = pytest.mark.usefixtures("patient_judge", "shapes_unchecked")
EXERCISES = dict(catalogue.EXERCISES)
NAMES = list(EXERCISES)
ABOUT = {name: importlib.import_module(f"tests.exercises.right.{catalogue.PLACES[name]}") for name in NAMES}
SLIPS = [(name, slip) for name in NAMES for slip in EXERCISES[name].steps.slips]
RIGHT = [(name, function) for name in NAMES for function in getattr(ABOUT[name], "RIGHT", [])]
SHARE_REJECTED = 0.98
QUICK = (
    "get_reward",
    "per_token_kl",
    "next_weights",
)  # exercises without a model and with few mutants: a tensor, texts, an array


@pytest.fixture(autouse=True, scope="module")
def worked_out_once():
    """Keep what hundreds of tests ask for again: the cases of an exercise, its slips and pairs, and the values they give.

    A test that changed a case would fail others. What a function under test gives is never kept.
    """
    known = {id(exercise) for exercise in EXERCISES.values()}
    drawn = {}
    combined = {}
    outcomes = {}
    draw, combine, work_out = Exercise.cases, Steps.combinations, comparing.reference_outcome

    def cases(exercise: Exercise, seed: int = 0) -> list:
        if id(exercise) not in known:
            return draw(exercise, seed)
        if (id(exercise), seed) not in drawn:
            drawn[id(exercise), seed] = draw(exercise, seed)
            outcomes.update({(id(exercise), id(case)): {} for case in drawn[id(exercise), seed]})
        return list(drawn[id(exercise), seed])

    def combinations(steps: Steps) -> list:
        if id(steps) not in combined:
            combined[id(steps)] = steps, list(combine(steps))  # kept with the steps: no others get their id
        return combined[id(steps)][1]

    def reference_outcome(exercise: Exercise, case: dict, slips: tuple = (), with_gradient: bool = True):
        kept = outcomes.get((id(exercise), id(case)))
        if kept is None or (slips and with_gradient):  # a smaller case, or more than there is room for
            return work_out(exercise, case, slips, with_gradient)
        asked = (*(slip.name for slip in slips), with_gradient)
        if asked not in kept:
            kept[asked] = work_out(exercise, case, slips, with_gradient)
        return kept[asked]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Exercise, "cases", cases)
        patched.setattr(Steps, "combinations", combinations)
        for module in (comparing, recognition):
            patched.setattr(module, "reference_outcome", reference_outcome)
        yield


def named(value) -> str | None:
    return getattr(value, "name", getattr(value, "__name__", None))


def first_of_quick(rows: list) -> list:
    """The rows for `parametrize`: `make test` tries the first one of the quick exercises, `make test-all` all of all."""
    seen = set()
    marked = []
    for name, thing in rows:
        marks = () if name in QUICK and name not in seen else pytest.mark.slow
        marked.append(pytest.param(name, thing, marks=marks, id=f"{name} {named(thing)}"))
        seen.add(name)
    return marked


def test_a_mean_is_not_called_expected():
    """Catches "You subtract the expected reward. For p 1 it gives 0, expected 1": one word in two senses."""
    assert [(name, slip.name) for name, slip in SLIPS if "expected" in slip.explanation] == []


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_passes_and_is_the_courses_own_function(name):
    """Catches a reference, made of steps, that is not what the course computes."""
    assert_the_oracle_agrees(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_the_courses_own_function_in_every_case(name):
    assert_the_oracle_agrees(name)


def assert_the_oracle_agrees(name: str) -> None:
    exercise = EXERCISES[name]
    oracle = ABOUT[name].ORACLE or exercise.reference()
    for case in exercise.cases():
        comparison = compare(exercise, oracle, case)
        assert not comparison.difference, comparison


@pytest.mark.parametrize(("name", "function"), first_of_quick(RIGHT))
def test_what_is_right_in_another_way_passes(name, function):
    """Catches a case that no right function has to bear, a tie, and a type that works below as well."""
    verdict = judge(EXERCISES[name], function)
    assert verdict.passed, verdict.text


@pytest.mark.parametrize(("name", "slip"), first_of_quick(SLIPS))
def test_each_slip_is_recognised_by_name(name, slip):
    """Catches a slip that the cases cannot tell from the right function, or from another slip."""
    exercise = EXERCISES[name]
    verdict = judge(exercise, exercise.reference((slip,)))
    assert not verdict.passed
    assert verdict.slips == (slip.name,), verdict.text
    assert len(verdict.line.splitlines()) <= 10


def failing_pairs(name: str, pairs: list) -> dict:
    return pairs_not_told(EXERCISES[name], pairs, getattr(ABOUT[name], "UNTOLD", {}))


@pytest.mark.parametrize("name", few_of(QUICK, ["per_token_kl"]))
def test_some_pairs_of_slips_are_named_or_told_apart(name):
    assert failing_pairs(name, random.Random(0).sample(pairs_of(EXERCISES[name]), 3)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_pair_of_slips_passes(name):
    """Catches two mistakes that hide each other, but for those that are excused and do come to the right function."""
    untold = getattr(ABOUT[name], "UNTOLD", {})
    pairs = pairs_of(EXERCISES[name])
    assert pairs_that_pass(EXERCISES[name], pairs, untold) == []
    excused = [pair for pair in pairs if (pair[0].name, pair[1].name) in untold]
    assert set(pairs_that_pass(EXERCISES[name], excused, {})) == set(untold)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_twenty_pairs_of_slips_are_named_or_told_apart(name):
    """Catches two mistakes at once for which a student is told something else."""
    pairs = pairs_of(EXERCISES[name])
    assert failing_pairs(name, random.Random(1).sample(pairs, min(20, len(pairs)))) == {}


def accepted_mutants(name: str, seed: int) -> tuple[list[str], int]:
    """The mutants that pass although no reason is given why they may, and how many there are that may not."""
    exercise = EXERCISES[name]
    equivalent = getattr(ABOUT[name], "EQUIVALENT", {})
    tried = [mutant for mutant in mutants_of(exercise) if mutant.change not in equivalent]
    return [mutant.change for mutant in accepted(exercise, tried, seed)], len(tried)


@pytest.mark.parametrize("name", few_of(NAMES, QUICK))
def test_mutants_of_the_reference_are_rejected(name):
    """Catches a check with cases that leave something about the function open."""
    passing, tried = accepted_mutants(name, seed=0)
    assert len(passing) <= (1 - SHARE_REJECTED) * tried, passing


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_mutants_of_the_reference_are_rejected_with_another_seed(name):
    """Catches a share that is reached by luck, with the cases of one seed."""
    passing, tried = accepted_mutants(name, seed=1)
    assert len(passing) <= (1 - SHARE_REJECTED) * tried, passing


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(ABOUT[name], "EQUIVALENT")])
def test_what_is_excused_is_a_mutant_that_no_case_rejects(name):
    """Catches a reason that outlived its mutant, or that was never true."""
    equivalent = ABOUT[name].EQUIVALENT
    excused = [mutant for mutant in mutants_of(EXERCISES[name]) if mutant.change in equivalent]
    assert {mutant.change for mutant in excused} == set(equivalent)
    assert accepted(EXERCISES[name], excused, seed=0) == excused


@pytest.mark.usefixtures("few_draws")
def test_a_case_is_the_same_for_everybody():
    """Catches chance that depends on the process, and cases that differ from call to call."""
    for exercise in EXERCISES.values():
        first, second = exercise.cases(), exercise.cases()
        assert len(first) == len(second)
        for one, other in zip(first[-10:], second[-10:]):  # the last drawn ones: what came before decides them
            found, again = call(exercise, exercise.reference(), one), call(exercise, exercise.reference(), other)
            if isinstance(found.value, str):
                assert found.value == again.value
            else:
                assert near(found.value, again.value, 0.0)


@pytest.mark.slow
def test_a_mutant_is_accepted_by_an_exercise_of_one_case():
    """The test of mutants sees what it is about: with the first boundary case alone many pass."""
    exercise = replace(EXERCISES["grpo_loss"], boundary=lambda: EXERCISES["grpo_loss"].cases()[1:2], draws=0)
    assert len(accepted(exercise, list(mutants_of(exercise)), seed=0)) > 5
