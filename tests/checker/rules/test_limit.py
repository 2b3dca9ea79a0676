"""The limit of characters: where it begins, and what is named as the thing to cut."""

from types import SimpleNamespace

import pytest

from checker.reading.convert import Section
from checker.reading.notebook import Cell
from checker.rules.limit import bars, near_the_limit, over_the_limit

PICTURE = "data:image/png;base64," + "A" * 300


def submission(*cells: tuple[str, str], used: int = 0, limit: int = 1_000):
    """A submission of cells with this source and output, and of so many characters in all."""
    converted = [Section(Cell(number, "code", source), source, output) for number, (source, output) in enumerate(cells)]
    return SimpleNamespace(
        markdown="x" * used, limit=limit, converted=converted, place=lambda number: f"Cell {number}: a name"
    )


SMALL = ("s" * 20, "o" * 30)


@pytest.mark.parametrize(
    ("used", "over", "near"), [(900, False, False), (901, False, True), (1_000, False, True), (1_001, True, False)]
)
def test_just_the_limit_is_allowed_and_what_is_near_it_is_told(used, over, near):
    """Catches exactly 40,000 characters refused, and 36,000 warned of."""
    made = submission(SMALL, used=used)
    assert (bool(list(over_the_limit.check(made))), bool(list(near_the_limit.check(made)))) == (over, near)


def test_how_much_is_too_much_and_where_to_begin():
    """Catches the limit told for the length, and the smaller cell or part named to be cut."""
    made = submission(SMALL, ("s" * 100, "o" * 2_000), ("s" * 1_500, "o" * 10), used=12_345, limit=10_000)
    advice = "Begin with Cell 1: a name: its output alone has 2,000 characters."
    assert list(over_the_limit.check(made)) == [(None, "12,345 characters of 10,000, 2,345 too many", advice)]
    made = submission(("s" * 1_500, "o" * 10), SMALL, used=9_999, limit=10_000)
    advice = "Begin with Cell 0: a name: its source alone has 1,500 characters."
    assert list(near_the_limit.check(made)) == [(None, "9,999 characters of 10,000", advice)]


def test_pictures_in_a_text_are_named_with_their_characters():
    """Catches "shorten your text" for a picture that was pasted into it; one in an output is no text of the student's."""
    made = submission(SMALL, (f"![a]({PICTURE}) and ![b]({PICTURE})", ""), used=1_001)
    said = "Begin with Cell 1: a name: a picture that was pasted into its text takes 644 characters. Take it out."
    ((_, _, advice),) = over_the_limit.check(made)
    assert advice == said
    ((_, _, advice),) = over_the_limit.check(submission((PICTURE, PICTURE + PICTURE), used=1_001))
    assert advice == "Begin with Cell 0: a name: its output alone has 644 characters."


def test_bars_are_of_the_largest_cells_in_their_order_and_as_long_as_these():
    """Catches bars of the first cells, in the order of their size, or longer than the line."""
    made = submission(("s" * 10, "o" * 10), ("s" * 1, ""), ("s" * 30, "o" * 10), ("", "o" * 5))
    assert bars(made, width=8, most=3) == [
        "the largest cells, characters of source (=) and output (-):",
        f"{'Cell 0: a name':<44} ==--          10 +     10",
        f"{'Cell 2: a name':<44} ======--      30 +     10",
        f"{'Cell 3: a name':<44} -              0 +      5",
        "and 1 smaller cells",
    ]
    assert len(bars(made, most=4)) == 5 and "=" * 22 + "-" * 8 in bars(made)[3]
    assert len(bars(submission(*[SMALL] * 9))) == 1 + 8 + 1
    assert bars(submission()) == ["the largest cells, characters of source (=) and output (-):"]
    assert bars(submission(("", ""))) == [
        "the largest cells, characters of source (=) and output (-):",
        f"{'Cell 0: a name':<44} {'':31}      0 +      0",
    ]


def test_a_long_name_is_cut_where_the_bar_begins():
    """Catches a name of a whole line that pushes the bars apart."""
    made = submission(SMALL)
    made.place = lambda number: "word " * 30
    assert bars(made)[1].startswith("word word word word word word word word ...  ==")
