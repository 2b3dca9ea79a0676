"""The sentences of a verdict, each from an outcome that is written down here."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from shared.exercises.arguments import Kind, Mask, Numbers, Text
from shared.exercises.calling import Outcome
from shared.exercises.comparing import Comparison, Difference
from shared.exercises.exercise import Exercise
from shared.exercises.results import ByName, TensorOf
from shared.exercises.steps import Slip, Steps
from shared.exercises.wording import _pair, _place, _places, arguments_in_words, describe, shown

KINDS = {"x": Numbers("B"), "mask": Mask("B"), "m": Kind()}
EXERCISE = Exercise("a", "a", "", Steps(), KINDS, TensorOf("B C"), draw=lambda draw: {}, gradient="x")
ONES = torch.ones(2, dtype=torch.bool)
CASE = {"x": torch.tensor([1.0, 2.0]), "mask": ONES, "m": None}
HIDDEN = {"x": Kind(), "mask": Mask("B"), "m": Kind()}
SHOWN = "x [1, 2]"
ZEROS = torch.zeros(2, 2)
OTHER = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
SLIP = Slip.of("x", "You flip it.", lambda x: -x)
SECOND = Slip.of("x", "You forget it.", lambda x: x)


def told(difference, actual, expected=None, exercise=EXERCISE, slips=(), remark="") -> str:
    expected = Outcome(value=ZEROS, gradient=torch.zeros(2)) if expected is None else expected
    return describe(exercise, Comparison(CASE, difference, actual, expected), slips, remark)


@pytest.mark.parametrize(
    ("difference", "actual", "words"),
    [
        (
            Difference.RAISED,
            Outcome(raised="it raised KeyError: 'a'", where=", in line 2: `b`"),
            f"it raised KeyError: 'a', in line 2: `b`.\nThis happens for {SHOWN}.",
        ),
        (Difference.RAISED, Outcome(raised="it waits..."), f"it waits...\nThis happens for {SHOWN}."),
        (Difference.NO_RESULT, Outcome(complaint="it returns None."), "it returns None."),
        (Difference.TYPE, Outcome(value=ZEROS, complaint="it returns a list."), "it returns a list."),
        (Difference.SIDE_EFFECT, Outcome(value=ZEROS, harm="it changes `x`."), "it changes `x`."),
        (
            Difference.SIDE_EFFECT,
            Outcome(value=ZEROS, harm="it changes `x`.", complaint="it returns a list."),
            "it changes `x`.\nBesides, it returns a list.",
        ),
        (
            Difference.SHAPE,
            Outcome(value=torch.zeros(2), harm="it changes `x`."),
            f"For {SHOWN} it gives the shape (2,); expected (2, 2) (B, C).\nBesides, it changes `x`.",
        ),
        (
            Difference.VALUE,
            Outcome(value=OTHER, complaint="it returns a list."),
            f"For {SHOWN} at completion 1, token 2 it gives 1, expected 0.\nBesides, it returns a list.",
        ),
        (
            Difference.VALUE,
            Outcome(value=OTHER * torch.nan),
            f"it gives nan.\nFor {SHOWN} at completion 1, token 1 it gives nan, expected 0; at completion 1, token 2 it "
            "gives nan, expected 0; at completion 2, token 1 it gives nan, expected 0; 1 more differ.",
        ),
        (
            Difference.GRADIENT,
            Outcome(value=ZEROS, gradient=torch.tensor([0.0, 3.0])),
            f"For {SHOWN} the value is right and its gradient by `x` is not: at completion 2 it gives 3, expected 0. "
            "Look for a `.detach()` too many or too few.",
        ),
        (
            Difference.GRADIENT,
            Outcome(value=ZEROS),
            f"For {SHOWN} the value is right, and it has no gradient by `x`. Look for `.detach()`, `.item()` or "
            "`torch.no_grad()`.",
        ),
        (
            Difference.GRADIENT,
            Outcome(value=ZEROS, gradient=torch.zeros(2)),
            f"For {SHOWN} the value is right, and its gradient by `x` is 0. Look for a `.detach()` too many or too few.",
        ),
        (
            Difference.GRADIENT,
            Outcome(value=ZEROS * torch.nan, gradient=torch.tensor([torch.nan, 3.0])),
            f"For {SHOWN} the value is right, and its gradient by `x` is nan. Look for an infinity that is multiplied by "
            "0, and for a logarithm or a root of 0 beside a `where`.",
        ),
    ],
    ids=range(13),
)
def test_a_difference_is_told(difference, actual, words):
    """Catches a sentence of another difference, what is told twice, and what is told besides and was forgotten."""
    assert told(difference, actual) == words


def test_where_no_argument_is_shown_the_difference_begins_the_sentence():
    hidden = replace(EXERCISE, arguments=HIDDEN)
    value = Outcome(value=OTHER)
    assert told(Difference.VALUE, value, exercise=hidden) == "At completion 1, token 2 it gives 1, expected 0."
    assert told(Difference.RAISED, Outcome(raised="it raised E"), exercise=hidden) == "it raised E."
    assert (
        told(Difference.RAISED, Outcome(raised="it raised E"), exercise=hidden, remark="Now.") == "Now.\nIt raised E."
    )


def test_slips_come_first_one_after_the_other():
    """Catches the second of two explanations left out, "either" before a single one, a remark beside slips."""
    value, rest = Outcome(value=OTHER), f"\nFor {SHOWN} at completion 1, token 2 it gives 1, expected 0."
    assert told(Difference.VALUE, value, slips=[(SLIP,)]) == "You flip it." + rest
    both = "two things at once. (1) You flip it.\n(2) You forget it."
    assert told(Difference.VALUE, value, slips=[(SLIP, SECOND)]) == both + rest
    either = "either this: You flip it.\nor this: You forget it."
    assert told(Difference.VALUE, value, slips=[(SLIP,), (SECOND,)]) == either + rest
    assert told(Difference.VALUE, value, remark="It is odd.") == "It is odd." + rest
    assert told(Difference.VALUE, Outcome(value=OTHER * torch.nan), slips=[(SLIP,)]).startswith("You flip it.\nFor ")


def test_the_gradient_by_two_arguments_or_by_a_model_has_no_places():
    """Catches the places of one argument in a row that holds two."""
    other = "the value is right and its gradient is not. Look for a `.detach()` too many or too few."
    wrong = Outcome(value=ZEROS, gradient=torch.tensor([0.0, 3.0]))
    both = replace(EXERCISE, gradient="x mask")
    assert told(Difference.GRADIENT, wrong, exercise=both) == f"For {SHOWN} {other}"
    assert "no gradient by `x` and `mask`. Look" in told(Difference.GRADIENT, Outcome(value=ZEROS), exercise=both)
    assert told(Difference.GRADIENT, wrong, exercise=replace(EXERCISE, gradient="m")) == f"For {SHOWN} {other}"
    without_axes = replace(
        EXERCISE, arguments=KINDS | {"m": object.__new__(type("Bare", (), {"is_plain": lambda *_: True}))}
    )
    assert told(Difference.GRADIENT, wrong, exercise=replace(without_axes, gradient="m")) == f"For {SHOWN} {other}"


def test_a_text_is_told_as_python_writes_it():
    words = told(Difference.VALUE, Outcome(value="a" * 200), Outcome(value="b"))
    assert words == f"For {SHOWN} it gives '{'a' * 156}...; expected 'b'."


def test_a_shape_without_axes_is_told_without_them():
    """Catches axes named of a single number, and more of them than the result has."""
    scalar = Outcome(value=torch.tensor(0.0))
    words = f"For {SHOWN} it gives the shape (2,); expected ()."
    assert told(Difference.SHAPE, Outcome(value=torch.zeros(2)), scalar) == words
    one = told(Difference.SHAPE, Outcome(value=ZEROS), Outcome(value=torch.zeros(2)))
    assert one == f"For {SHOWN} it gives the shape (2, 2); expected (2,) (C)."
    unnamed = replace(EXERCISE, result=TensorOf())
    words = f"For {SHOWN} it gives the shape (2,); expected (2, 2)."
    assert told(Difference.SHAPE, Outcome(value=torch.zeros(2)), exercise=unnamed) == words


def test_truths_are_told_as_truths_and_other_numbers_of_them_as_numbers():
    """Catches "it gives 1, expected 0" of a mask, and 0.5 that is told as True."""
    truths = replace(EXERCISE, result=TensorOf("B C", holds="booleans"))
    assert told(Difference.VALUE, Outcome(value=OTHER), exercise=truths).endswith("it gives True, expected False.")
    half = told(Difference.VALUE, Outcome(value=OTHER / 2), exercise=truths)
    assert half.endswith("it gives 0.5, expected 0.")
    opposite = told(Difference.VALUE, Outcome(value=1 - ZEROS), exercise=truths)
    assert "it gives True, expected False; at" in opposite
    assert told(Difference.VALUE, Outcome(value=ZEROS), Outcome(value=OTHER), truths).endswith(
        "it gives False, expected True."
    )
    number = replace(EXERCISE, result=Bare())
    assert told(Difference.VALUE, Outcome(value=OTHER), exercise=number).endswith("it gives 1, expected 0.")


class Bare:
    """A kind of result without names and without a word on what it holds."""

    axes = "B C"


def test_three_places_are_told_and_the_others_counted():
    right = torch.zeros(5)
    three = torch.tensor([1.0, 2, 3, 0, 0])
    first = "at token 1 it gives 1, expected 0; at token 2 it gives 2, expected 0; at token 3 it gives 3, expected 0"
    assert _places(three, right, "C", 1e-4) == first
    assert _places(torch.arange(1.0, 6), right, "C", 1e-4) == first + "; 2 more differ"
    assert _places(torch.tensor([[1.0]]), torch.tensor([[0.0]]), "B C", 1e-4) == "it gives 1, expected 0"


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (0.123456789, 0.5, "it gives 0.1235, expected 0.5"),
        (0.33334, 0.33333, "it gives 0.33334, expected 0.33333"),
        (1.0000123, 1.0000222, "it gives 1.00001, expected 1.00002"),
        (1.00000123, 1.00000222, "it gives 1.00000123, expected 1.00000222"),
        (0.33333333, 0.33333338, "it gives 0.33333333, expected 0.33333338"),
        (1.0, 1.000000001, "it gives 1, expected 1"),
        (-0.0, 1.0, "it gives 0, expected 1"),
        (True, False, "it gives True, expected False"),
    ],
)
def test_two_numbers_look_different_where_they_are(actual, expected, words):
    """Catches "it gives 0.3333, expected 0.3333"."""
    assert _pair(actual, expected) == words


@pytest.mark.parametrize(
    ("place", "shape", "axes", "names", "words"),
    [
        ([1, 0], (2, 3), "B C", (), "at completion 2, token 1"),
        ([0, 2], (1, 3), "B C", (), "at token 3"),
        ([0], (1,), "S", (), "at state 0"),
        ([0], (1,), "B", (), "at completion 1"),
        ([1, 2], (2, 3), "S A", (), "at state 1, action 2"),
        ([1], (2,), "N*G", (), "at completion 2"),
        ([1], (2,), "B C", (), "at token 2"),
        ([1], (2,), "", (), "at place 2"),
        ([1, 1], (2, 2), "", (), "at place 2, place 2"),
        ([1, 1], (2, 2), "E B", ("k1", "k2"), "at 'k2', completion 2"),
        ([0, 0], (2, 1), "E B", ("k1", "k2"), "at 'k1'"),
        ([3, 1], (4, 2), "S B", ("k1", "k2"), "at state 1, completion 2"),
        ([2, 1], (5, 2), "B C", ("k1", "k2"), "at completion 1, token 2"),
        ([2, 1], (3, 2), "B C", ("k1", "k2"), "at token 2"),
        ([2], (4,), "B", ("k1", "k2"), "at completion 1"),
        ([1], (4,), "B", ("k1", "k2"), "at 'k2'"),
    ],
    ids=range(16),
)
def test_a_place_is_named_by_its_axes(place, shape, axes, names, words):
    """Catches a place counted from 0, a state counted from 1, the name of another entry."""
    assert _place(place, shape, axes, names) == words


def test_without_slips_and_remark_there_is_the_case_alone():
    compared = Comparison(CASE, Difference.TYPE, Outcome(value=ZEROS, complaint="a list."), Outcome(value=ZEROS))
    assert describe(EXERCISE, compared) == "a list."


def test_names_of_entries_come_from_the_kind_of_result():
    by_name = replace(EXERCISE, result=ByName("E B", names=("k1", "k2")))
    assert told(Difference.VALUE, Outcome(value=OTHER), exercise=by_name) == (
        f"For {SHOWN} at 'k1', completion 2 it gives 1, expected 0."
    )


def test_an_argument_is_told_as_a_person_writes_it():
    """Catches a list of one thing under the name of many, and brackets around one number."""
    kinds = dict.fromkeys(("prompts", "entries", "gas", "word", "few"), Text())
    case = {"prompts": ["a"], "entries": [3], "gas": "x", "word": ["b"], "few": ["c", "d"]}
    assert arguments_in_words(replace(EXERCISE, arguments=kinds), case) == (
        "prompt 'a', entry 3, gas 'x', word ['b'], few ['c', 'd']"
    )
    assert [shown(value) for value in (torch.tensor([[0.5]]), np.array([1.0, -0.0]), 0.123456, torch.tensor([True]))] == [
        "0.5", "[1, 0]", "0.1235", "True",
    ]  # fmt: skip
    assert shown("a" * 200) == "'" + "a" * 156 + "..." and shown(torch.zeros(100)) == "[" + "0, " * 52 + "..."
    assert shown(torch.tensor([[True, False]])) == "[[True, False]]"
