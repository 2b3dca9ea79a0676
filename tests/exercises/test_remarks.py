"""Sentences on functions that no known mistake explains: what differs, and where."""

import math

import pytest
import torch

from shared.exercises.arguments import Numbers, Scalar, Texts
from shared.exercises.exercise import Exercise
from shared.exercises.judging import judge
from shared.exercises.results import TensorOf, Text
from shared.exercises.steps import Steps

STEPS = Steps()
WORDS = Steps()


@STEPS.step
def scaled(x, factor):
    return x * factor


@STEPS.step
def root(scaled):
    return 3 + scaled.abs().sqrt()


@WORDS.step
def longest(texts):
    return max(texts, key=lambda text: (len(text), text))


ROOT = Exercise(
    "root",
    "root",
    "",
    STEPS,
    {"x": Numbers("B"), "factor": Scalar(usual=2.0)},
    TensorOf("B"),
    draw=lambda draw: {"x": draw.numbers(draw.size(5), least=-5, most=5), "factor": draw.choice([2.0, 2.0, 0.0, 7.0])},
)
LONGEST = Exercise(
    "longest",
    "longest",
    "",
    WORDS,
    {"texts": Texts("L")},
    Text(),
    draw=lambda draw: {"texts": draw.some(["a", "bc", "bd", "efg", "EFG", "h "], draw.size(4))},
)


def right(x, factor):
    return 3 + (x * factor).abs().sqrt()


def of_one_factor(x, factor):
    return right(x, factor or 1.0)


def capped(x, factor):
    return 3 + (x * factor).abs().sqrt().clamp(max=1)


def first_forgotten(x, factor):
    given = right(x, factor)
    given[0] = 0.9 * given[0]
    return given


WRONG = {
    "with the other sign": lambda x, factor: -right(x, factor),
    "whatever it gives is 0.5 times what is expected": lambda x, factor: right(x, factor) / 2,
    "whatever it gives is 3 less than expected": lambda x, factor: right(x, factor) - 3,
    "divided by the number of completions": lambda x, factor: right(x, factor) / len(x),
    "the square of what is expected": lambda x, factor: right(x, factor) ** 2,
    "the right numbers in the reverse order": lambda x, factor: right(x, factor).flip(0),
    "it never gives more than 4, where more is expected": capped,
    "it gives what would be right with no number beyond 2 and -2 in `x`": lambda x, factor: right(
        x.clamp(-2, 2), factor
    ),
    "it is wrong at the first completion alone": first_forgotten,
    "with 1 for every 0 in `factor`": of_one_factor,
    "wherever it is wrong it gives 0.": lambda x, factor: torch.where(x > 0, -0.0, right(x, factor)),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_differs_is_told(words):
    """Catches a sentence that is lost, and one that another takes the place of."""
    text = judge(ROOT, WRONG[words]).text
    assert words in text and "\nFor x" in text


def test_where_it_is_wrong_is_told_if_it_is_right_without():
    """Catches a place that is named because the failing cases happen to have it, and one that is not found."""
    text = judge(ROOT, lambda x, factor: right(x, factor) + 0.3 * math.sin(len(x)) * (factor > 3)).text
    assert text.startswith("it is wrong only where `factor` has a number above 3")
    assert "only where" not in judge(ROOT, lambda x, factor: right(x, factor) + torch.rand(1)).text


def test_an_order_that_should_not_matter_is_told():
    """Catches a result by the first of two that the right function tells apart without their places."""
    assert "depends on the order of `texts`" in judge(LONGEST, lambda texts: max(texts, key=len)).text


def test_few_numbers_that_are_wrong_get_no_sentence():
    """Catches a mistake that is told because it explains the one case in which a function fails."""
    assert judge(ROOT, lambda x, factor: right(x, factor) + (len(x) > 100)).text.startswith("For x")
