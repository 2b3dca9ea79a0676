"""Places that are kept free in a text: no stranger's text names one, and each gets its piece."""

import pytest

from checker.pages.parts import Parts, without_places


def test_each_place_gets_its_piece_and_no_piece_is_looked_at_again():
    """Catches pieces that are mixed up, and a piece whose own words are taken for a place."""
    parts = Parts()
    places = [parts.put(piece) for piece in ("one", "\ue0000\ue001", "three")]
    assert (
        parts.fill(f"a {places[2]} b {places[1]} c {places[0]} d {places[2]}")
        == "a three b \ue0000\ue001 c one d three"
    )


@pytest.mark.parametrize("held", [0, 1, 2])
def test_a_place_for_which_there_is_no_piece_is_empty(held):
    """Catches a traceback for a place that came with a text, behind the last piece and right behind it."""
    parts = Parts()
    for _ in range(held):
        parts.put("x")
    assert parts.fill("a\ue0002\ue001b") == "ab"


def test_a_text_loses_the_marks_of_a_place_and_nothing_else():
    assert without_places("a\ue0001\ue001 b\ue001 c\ue000") == "a1 b c"
