"""Functions that do not look at their arguments, and cases larger than those of a check, on exercises made here."""

from dataclasses import replace

import pytest

pytest.importorskip("torch")

import torch

from checker.grading.judge.oracle import larger_cases as larger
from checker.grading.judge.oracle.constant_answers import Tried, constant_answer_remark
from shared.exercises.arguments import Numbers
from shared.exercises.calling import Outcome
from shared.exercises.drawing import WIDE
from shared.exercises.exercise import LONG, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def doubled(x):
    return 2 * x


def draw(chance) -> dict:
    return {"x": torch.tensor([float(n) for n in chance.sample(range(9000), chance.size())])}


TWICE = Exercise("twice", "twice", "", STEPS, {"x": Numbers("B")}, TensorOf("B"), draw=draw, gradient="x")


def tried(*pairs) -> list[Tried]:
    """Pairs of what a function gave, None for nothing, and what was expected."""
    return [
        Tried(Outcome(value=as_value(given)), Outcome(value=as_value(right)), given == right) for given, right in pairs
    ]


def as_value(value):
    return torch.tensor(value) if isinstance(value, (float, list)) else value


def test_one_answer_for_all_cases_is_told():
    """Catches a constant of two different expected results, "in the others" where there are none, a tensor in full."""
    assert (
        constant_answer_remark(tried((7.0, 1.0), (7.0, 2.0), (7.0, 3.0))) == "It gives 7, whatever its arguments are."
    )
    assert constant_answer_remark(tried((7.0, 1.0), (7.0, 2.0), (7.0, 2.0))) == ""
    some = tried((7.0, 7.0), (7.0, 1.0), (7.0, 2.0), (7.0, 3.0))
    assert constant_answer_remark(some) == "In the others it gives 7, whatever its arguments are."
    texts = tried(("a", "b"), ("a", "c"), ("a", "d"))
    assert constant_answer_remark(texts) == "It gives 'a', whatever its arguments are."
    pairs = tried(([1.0, 2.0], 1.0), ([1.0, 2.0], 2.0), ([1.0, 2.0], 3.0))
    assert constant_answer_remark(pairs) == "It gives the same, whatever its arguments are."
    assert constant_answer_remark(tried((7.0, 1.0), (7.0, 2.0), (7.0, 3.0), (None, 4.0))) == ""
    assert constant_answer_remark(tried((7.0, 1.0), (8.0, 2.0), (9.0, 3.0))) == ""


def test_an_earlier_answer_given_again_is_told():
    """Catches whole numbers and texts, which recur by chance, and an answer that is given where the same is asked for."""
    again = "In the others it gives again what it gave for other arguments."
    table = [(0.5, 0.5), (1.5, 1.5), (2.5, 2.5)]
    assert constant_answer_remark(tried(*table, (0.5, 3.5), (1.5, 4.5), (2.5, 5.5))) == again
    assert constant_answer_remark(tried(*table, (0.5, 3.5), (1.5, 4.5), (9.5, 5.5))) == ""
    whole = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (1.0, 4.0), (2.0, 5.0), (3.0, 6.0)]
    assert constant_answer_remark(tried(*whole)) == ""
    texts = [("a", "a"), ("b", "b"), ("c", "c"), ("a", "d"), ("b", "e"), ("c", "f")]
    assert constant_answer_remark(tried(*texts)) == ""
    alone = [(0.5, 3.5), (0.5, 3.5), (1.5, 4.5), (1.5, 4.5), (2.5, 5.5), (2.5, 5.5)]
    assert constant_answer_remark(tried(*alone)) == "", "the same was asked for"
    two = [(0.5, 0.5), (1.5, 1.5), (0.5, 3.5), (1.5, 4.5), (1.0, 6.5)]
    assert constant_answer_remark(tried(*two)) == ""
    vectors = [([1.0, n], [1.0, n]) for n in (2.0, 3.0, 4.0)]
    repeated = [([1.0, n], [5.0, n]) for n in (2.0, 3.0, 4.0)]
    assert constant_answer_remark(tried(*vectors, *repeated)) == again


def test_larger_cases_are_larger_and_the_same_for_a_seed():
    """Catches cases no larger than a check's, its wide and its long one included, others at each grading, and those of another seed."""
    cases = larger.larger_cases(TWICE, 7)
    lengths = [len(case["x"]) for case in cases]
    assert len(cases) == larger.COUNT and all(4 <= length <= 16 for length in lengths[3:]) and max(lengths[3:]) > 8
    assert lengths[2] > LONG + 4 and lengths[0] >= 4 + 2 * WIDE and lengths[1] >= 4 + WIDE
    for other, same in ((7, True), (8, False)):
        again = larger.larger_cases(TWICE, other)
        assert all(torch.equal(one["x"], two["x"]) for one, two in zip(cases, again, strict=True)) is same
    named = larger.larger_cases(replace(TWICE, function="other"), 7)
    assert not all(torch.equal(one["x"], two["x"]) for one, two in zip(cases, named, strict=True))


def test_the_largest_length_is_drawn_and_no_more_than_there_is():
    chance = larger.LargeDraw("seed")
    drawn = {chance.size(3, 1) for _ in range(200)}
    assert drawn == set(range(3, 13)) and {chance.size() for _ in range(300)} == set(range(4, 17))
    assert {chance.size(1) for _ in range(100)} == {1, 2, 3, 4} and {chance.size(2, 3) for _ in range(200)} == set(
        range(3, 13)
    )
    assert sorted(chance.sample([1, 2], 5)) == [1, 2] and len(chance.sample(range(9), 5)) == 5


def test_a_case_that_is_not_valid_or_that_the_reference_cannot_bear_is_left_out():
    """Catches a function that is graded by a case in which the reference itself fails."""
    none = replace(TWICE, valid=lambda case: False)
    assert larger.larger_cases(none, 7) == []
    even = larger.larger_cases(replace(TWICE, valid=lambda case: len(case["x"]) % 2 == 0), 7)
    assert len(even) == larger.COUNT and all(len(case["x"]) % 2 == 0 for case in even)
    case = {"x": torch.ones(2)}

    def fails(step) -> Exercise:
        steps = Steps()
        steps.step(step)
        return replace(TWICE, steps=steps)

    def raises(x):
        return x / []

    def harms(x):
        return x.detach().mul_(2)

    def complains(x):
        return x.tolist()

    assert larger._bears(TWICE, case) and not larger._bears(TWICE, {"x": torch.ones(larger.MOST_NUMBERS)})
    assert not any(larger._bears(fails(step), case) for step in (raises, harms, complains))
