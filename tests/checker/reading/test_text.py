"""Text of strangers, as people are shown it."""

import pytest

from checker.reading import text
from checker.reading.text import one_line, printable, quoted


@pytest.fixture(autouse=True)
def ten_characters(monkeypatch):
    monkeypatch.setattr(text, "LONGEST", 10)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("  0123456789\n", "0123456789"),
        ("0123456789ab", "0123456789\n... (2 more characters)"),
        ("a [b](c) d", "a b d"),
        ("![b](c)", "b"),
        ("[b](c", "[b](c"),
    ],
)
def test_a_quote_has_its_links_as_words_and_says_what_was_cut(written, shown):
    """Catches ten characters of which one is cut, and a cut that is not told."""
    assert quoted(written) == shown


def test_one_line_is_one_line():
    assert one_line("a\nb\x1b[2K") == "a b\N{REPLACEMENT CHARACTER}[2K"
    assert printable("a\nb\u202e") == "a\nb\N{REPLACEMENT CHARACTER}" and printable("äß") == "äß"
