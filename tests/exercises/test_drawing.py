"""Drawn arguments, and the texts that a reward has to bear."""

import ast
import math
import re
import unicodedata
from collections import Counter

import pytest
import torch

from shared.exercises.drawing import HOSTILE, Draw

MANY = 400


def as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def evaluates_to_nothing(text: str) -> bool:
    try:
        return ast.literal_eval(text.strip()) is None
    except (SyntaxError, ValueError, MemoryError):
        return False


NAIVE = {
    "takes the first letter": lambda text: text == "",
    "takes what stands before a blank": lambda text: text.split(" ") == ["", ""],
    "takes the last line that is not empty": lambda text: text.isspace() and text.count("\n") > 1,
    "knows the blank alone": lambda text: text == "\t",
    "knows one end of a line": lambda text: text.isspace() and "\r" in text,
    "knows the ends of lines of ASCII": lambda text: text.isspace() and not text.isascii(),
    "ends at a zero byte": lambda text: "\0" in text,
    "encodes": lambda text: text.encode(errors="replace").decode() != text,
    "takes what is a digit for 0 to 9": lambda text: text.isdecimal() and "ARABIC" in unicodedata.name(text),
    "takes a wide digit for another": lambda text: text.isdecimal() and "FULLWIDTH" in unicodedata.name(text),
    "reads what is a digit": lambda text: text.isdigit() and not text.isdecimal(),
    "reads what is a number": lambda text: text.isnumeric() and not text.isdigit(),
    "compares numbers": lambda text: as_number(text) is not None and math.isnan(as_number(text)),
    "reads a number by its name": lambda text: text.isalpha() and as_number(text) == math.inf,
    "reads a number by its digits": lambda text: text[:1].isdigit() and as_number(text) == math.inf,
    "divides by a number": lambda text: as_number(text) == 0,
    "goes on with what Python reads": evaluates_to_nothing,
    "takes a tag for opened and closed": lambda text: "<think>" in text and "</think>" not in text,
    "looks for what stands before a tag's end": lambda text: text.startswith("</answer>"),
    "fills in": lambda text: "%s" in text and "%d" in text and "{0}" in text,
    "is a recursion over letters": lambda text: len(text) > 1000 and len(set(text)) == 1,
    "is a recursion over brackets": lambda text: text.count("(") - text.count(")") > 100,
}


@pytest.mark.parametrize("reading", NAIVE)
def test_what_a_naive_reward_does_not_bear_is_among_the_hostile_texts(reading):
    """Catches a reward that is called total, and ends a training at the first completion of that kind."""
    assert any(map(NAIVE[reading], HOSTILE))


def test_a_pattern_of_a_hostile_text_is_none():
    """Catches a reward that searches for what a completion says, without `re.escape`."""

    def is_a_pattern(text: str) -> bool:
        try:
            return bool(re.compile(text))
        except re.error:
            return False

    assert not all(map(is_a_pattern, HOSTILE))


def test_sizes_begin_at_one():
    """Catches a group of one, or a batch of one, that no case has; and sizes that nobody can read."""
    draw = Draw("sizes")
    assert {draw.size() for _ in range(MANY)} == {1, 2, 3, 4}
    assert {draw.size(3, least=2) for _ in range(MANY)} == {2, 3}


def test_numbers_lie_between_their_bounds_and_can_be_shown():
    drawn = Draw("numbers").numbers(20, 10, least=-0.5, most=3.0)
    assert drawn.shape == (20, 10) and drawn.dtype == torch.float32
    assert -0.5 <= drawn.min() < 0 and 2.5 < drawn.max() <= 3.0
    assert torch.allclose(1000 * drawn, (1000 * drawn).round(), atol=1e-2)
    assert len(set(drawn.flatten().tolist())) > 150


def alike(drawn: list[torch.Tensor]) -> list[float]:
    """The number of each tensor that holds one number only."""
    return [values[0].item() for values in drawn if bool((values == values[0]).all())]


def test_a_batch_of_equal_numbers_is_drawn_now_and_then():
    """Catches a group without signal that no case has, even of two, and one whose mean is not exactly its number."""
    draw = Draw("alike")
    for count in (2, 5):
        equal = alike([draw.numbers(count) for _ in range(MANY)])
        assert 10 < len(equal) < 100, "one in ten"
        assert len(equal) / 4 < equal.count(0.0) < len(equal) and len(set(equal)) > 4
        assert all((4 * number).is_integer() and -2 <= number <= 2 for number in equal)


def test_equal_numbers_lie_between_their_bounds_too():
    """Catches a probability of 0, or a quarter above the most, where the argument allows neither."""
    draw = Draw("bounds")
    equal = alike([draw.numbers(3, least=0.3, most=0.45) for _ in range(MANY)])
    assert equal and all(0.299 < number < 0.451 for number in equal)


def test_masks_begin_with_ones_and_are_often_short_or_full():
    """Catches a row without a token, padding between tokens, and a full row or one of one token that is hardly met."""
    draw = Draw("masks")
    mask = draw.mask(MANY, 6)
    assert mask.shape == (MANY, 6) and mask.dtype == torch.long
    assert bool((mask[:, 1:] <= mask[:, :-1]).all())
    lengths = Counter(mask.sum(dim=1).tolist())
    assert set(lengths) == {1, 2, 3, 4, 5, 6}
    assert min(lengths[1], lengths[6]) > MANY / 4 > max(lengths[length] for length in (2, 3, 4, 5))
    assert set(draw.mask(MANY, 2, least=3).sum(dim=1).tolist()) == {2}, "a row is never longer than the tensor"


def test_garbage_stands_in_the_padding_alone():
    """Catches padding of zeros, which a function that forgets the mask adds up unharmed."""
    values = torch.full((20, 10), 7.0)
    mask = Draw("rows").mask(20, 10)
    spoilt = Draw("garbage").garbage(values, mask, size=100.0)
    assert bool((spoilt[mask == 1] == 7).all())
    assert spoilt[mask == 0].min() < -50 and spoilt[mask == 0].max() > 50


def test_some_of_the_items_repeat():
    drawn = Draw("some").some("ab", 5)
    assert len(drawn) == 5 and set(drawn) == {"a", "b"}
