"""Functions that are right in a part of the hidden cases: none earns its points, and the verdict says what they do.

The judge is the real one, in this process: what these functions are is no matter of the box.
"""

import copy
import hashlib

import pytest

pytest.importorskip("torch")
pytest.importorskip("cloudpickle")

import torch

from checker.grading.box.inside import exchange
from checker.grading.judge.oracle import key
from checker.grading.judge.oracle.constant_answers import Tried, constant_answer_remark
from checker.grading.judge.oracle.larger_cases import COUNT, larger_cases
from checker.grading.judge.reference_process import ReferenceProcess
from shared.check import EXERCISES
from shared.exercises.calling import Outcome
from shared.exercises.comparing import compare
from tests.conftest import few_of
from tests.exercises import test_catalogue as of_catalogue

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
SEED = 7
QUICK = ("per_token_kl", "group_advantages", "advantages_of", "own_tokens", "get_reward", "compute_expected_svf")
# Whose cases have one size (one model, a game of three one-digit guesses, whose longest text the check
# shows), a size without a bound (the longest of hostile texts), or a model that speaks.
NUMBERS_ALONE = {"pass_at_k", "queue_ages", "seconds_at_once"}  # a number has no length
OF_ANY_SIZE = NUMBERS_ALONE | {"get_reward", "say"}


def amount(arguments):
    """The length of all arguments together, by their names; the room of a completion is a length too."""
    values = arguments.values()
    sizes = (value.numel() if isinstance(value, torch.Tensor) else getattr(value, "size", None) for value in values)
    lengths = (len(value) for value in values if isinstance(value, (list, str)))
    return sum(size for size in sizes if isinstance(size, int)) + sum(lengths) + arguments.get("max_new_tokens", 0)


def nothing(result):
    """A constant of the same kind: the shape, and no more, depends on the arguments."""
    if isinstance(result, dict):
        return {name: nothing(value) for name, value in result.items()}
    if isinstance(result, (list, tuple)):
        return type(result)(map(nothing, result))
    return "x" if isinstance(result, str) else 0.0 * result


def in_every_second_case(right, exercise):
    def function(*arguments, **named):
        result = right(*arguments, **named)
        digest = hashlib.sha256(repr((arguments, sorted(named.items()))).encode()).digest()
        return result if digest[0] % 2 else nothing(result)

    return function


def up_to_the_size_that_the_check_shows(right, exercise):
    most = max(amount(case) for case in exercise.cases())

    def function(*arguments, **named):
        result = right(*arguments, **named)
        by_name = dict(zip(exercise.arguments, arguments)) | named
        return result if amount(by_name) <= most else nothing(result)

    return function


def by_remembering_one_result_for_each_shape(right, exercise):
    kept = {}

    def function(*arguments, **named):
        result = right(*arguments, **named)
        shape = getattr(result, "shape", type(result))
        return copy.copy(kept.setdefault(shape, result))

    return function


HALVES = (in_every_second_case, up_to_the_size_that_the_check_shows, by_remembering_one_result_for_each_shape)


def verdict(name, half=None):
    exercise = EXERCISES[name]
    function = half(exercise.reference(), exercise) if half else exercise.reference()
    outcomes = [exchange.outcome_of(function, case, vars(exercise)) for case in key.asked_cases(name, SEED)]
    return key.judge(name, outcomes, SEED)


@pytest.fixture(autouse=True)
def no_search(monkeypatch):
    """The known slips are not looked for."""
    monkeypatch.setattr("shared.exercises.judging.TIME_FOR_SLIPS", 0.0)


@pytest.mark.parametrize("name", few_of(EXERCISES, QUICK))
@pytest.mark.parametrize("half", HALVES, ids=lambda half: half.__name__)
def test_half_a_function_earns_a_part_at_the_most(half, name):
    """Catches full points for a function that returns a constant, or what it remembers, wherever the check does not look.

    Of 58 exercises 53 gave them to one that is right up to the largest case of the check.
    """
    found = verdict(name, half)
    if half is up_to_the_size_that_the_check_shows and name in OF_ANY_SIZE:
        return
    assert not found["passed"] and found["right"] < found["cases"]
    assert found["share"] < 1
    assert f"Right in {found['right']} of {found['cases']} hidden cases" in found["text"]


@pytest.mark.parametrize("name", few_of(EXERCISES, QUICK))
def test_the_reference_is_right_in_every_case(name):
    """Catches a large case, or a sentence, that costs a right function its points."""
    found = verdict(name)
    assert found["passed"] and found["text"] == f"right in all {found['cases']} hidden cases."


def test_a_result_of_less_precision_is_told_outside():
    """Catches float64 that became float32 in a box, which does not know what an exercise hands over."""
    found = verdict("rloo_advantages", lambda right, exercise: lambda rewards: right(rewards).float())
    assert not found["passed"] and found["text"].startswith("of numbers in float64 it returns float32")


@pytest.mark.parametrize(
    ("half", "words"),
    [
        (in_every_second_case, "In the others it gives 0, whatever its arguments are."),
        (by_remembering_one_result_for_each_shape, "In the others it gives again what it gave for other arguments."),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_that_it_does_not_look_at_its_arguments_is_a_finding(half, words):
    """Catches "expected 0.56" as all that an instructor reads of a function that does not compute."""
    found = verdict("per_token_kl", half)
    assert found["text"].endswith(words) and found["finding"]


def test_an_honest_mistake_is_no_finding():
    """Catches a suspicion for who only forgot a term, and for who gives 0 where everything expected is 1."""
    honest = verdict("per_token_kl", lambda right, exercise: lambda logps, ref_logps: right(logps, ref_logps) + logps)
    assert not honest["passed"] and not honest["finding"] and "In the others" not in honest["text"]
    strict = verdict("get_reward", lambda right, exercise: lambda *given: [0.0 for _ in right(*given)])
    assert not strict["passed"] and strict["finding"] == ("whatever its arguments are" in strict["text"])


@pytest.mark.slow
def test_the_finding_comes_through_the_key():
    """Catches a finding that the judge sends and the grader leaves behind."""
    asked = ReferenceProcess(SEED)
    try:
        asked.cases(["per_token_kl"])
        exercise = EXERCISES["per_token_kl"]
        half = in_every_second_case(exercise.reference(), exercise)
        outcomes = [exchange.outcome_of(half, case, vars(exercise)) for case in key.asked_cases("per_token_kl", SEED)]
        assert asked.judge("per_token_kl", outcomes).finding
    finally:
        asked.close()


@pytest.mark.parametrize(("name", "function"), of_catalogue.first_of_quick(of_catalogue.RIGHT))
def test_what_is_right_in_another_way_bears_larger_cases(name, function):
    """Catches a large case that only the reference bears: a tie, a sum in another order, a loop that never ends."""
    exercise = of_catalogue.EXERCISES[name]
    cases = larger_cases(exercise, SEED)
    assert len(cases) == COUNT
    for case in cases:
        comparison = compare(exercise, function, case)
        assert not comparison.difference, comparison


def test_a_function_that_raises_in_some_cases_is_not_said_to_repeat_itself():
    """Catches "it gives again what it gave for other arguments" said of a function that stumbles over some of them."""
    expected = [Outcome(value=torch.tensor([number + 0.5])) for number in range(4)]
    given = [Outcome(value=torch.tensor([value])) for value in (9.5, 9.5, 8.5, 8.5)]
    repeats = [Tried(found, right, False) for found, right in zip(given, expected)]
    assert "gives again what it gave for other arguments" in constant_answer_remark(repeats)
    assert constant_answer_remark([*repeats, Tried(Outcome(raised="it raised KeyError: 1"), expected[0], False)]) == ""
