"""Text of a terminal on a page: lines as they are at last, colours, links."""

import pytest

from checker.pages.terminal import coloured

RED = '<span class="ansi-red-fg">{}</span>'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" 10%\r 90%\r100%\r\ndone", "100%\ndone"),
        ("1\r\x1b[31m2\r3\x1b[0m", RED.format("3")),
        ("\x1b[31m1\r2\x1b[0m a", RED.format("2") + " a"),
        ("\x1b[31ma <b>\x1b[0m & c", RED.format("a &lt;b&gt;") + " &amp; c"),
        ("\x1b[31ma\nb", RED.format("a") + "\n" + RED.format("b")),
        ("\x1b[1;94;42ma", '<span class="ansi-blue-intense-fg ansi-green-bg ansi-bold">a</span>'),
        ("\x1b[38;5;208ma\x1b[0m \x1b[2Kb\x1b[Ac", "a bc"),
        ("\x1b[" + "1" * 5000 + "ma", "a"),
    ],
)
def test_a_terminals_text_is_as_the_terminal_shows_it_at_last(text, shown):
    """Catches every state of a progress bar, a colour that a rewritten line loses, and tags out of an output."""
    assert coloured(text) == shown


@pytest.mark.parametrize("end", ["\x1b\\", "\x07"])
def test_a_link_of_a_terminal_is_a_link(end):
    """Catches an address that stands in the text, a link that does not end, and one that acts."""
    link = f"a \x1b]8;id=1;{{}}{end}b\x1b]8;;{end} c"
    assert coloured(link.format("https://a.org/x?y=1&z")) == (
        'a <a href="https://a.org/x?y=1&amp;z" rel="noopener noreferrer">b</a> c'
    )
    assert coloured(link.format("javascript:x()")) == 'a <a rel="noopener noreferrer">b</a> c'
