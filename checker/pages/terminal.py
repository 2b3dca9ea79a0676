"""Text of a terminal as HTML: lines as they are at last, with their colours and links."""

import html
from collections.abc import Iterator

from checker.pages.sanitise import sanitised
from checker.reading.convert import plain, redrawn

COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
BELL, END = "\x07", "\x1b\\"  # either ends the address of a link


def coloured(text: str) -> str:
    """Text of a terminal as HTML."""
    if "\x1b" not in text:
        return html.escape(redrawn(text), quote=False)
    from rich.ansi import AnsiDecoder

    decoder = AnsiDecoder()
    try:
        lines = [decoder.decode_line(line) for line in redrawn(text).replace(BELL, END).split("\n")]
    except ValueError:  # the number of a colour has more digits than Python reads
        return html.escape(plain(text), quote=False)
    return sanitised("\n".join("".join(_pieces(line)) for line in lines))


def _pieces(line) -> Iterator[str]:
    """The pieces of a line of rich's, each with its style; what has none stands between two that have."""
    position = 0
    for span in line.spans:
        yield html.escape(line.plain[position : span.start], quote=False)
        yield _styled(html.escape(line.plain[span.start : span.end], quote=False), span.style)
        position = span.end
    yield html.escape(line.plain[position:], quote=False)


def _styled(words: str, style) -> str:
    classes = [
        f"ansi-{COLOURS[colour.number % 8]}-{'intense-' * (colour.number > 7)}{where}"
        for colour, where in ((style.color, "fg"), (style.bgcolor, "bg"))
        if colour is not None and colour.number is not None and colour.number < 16
    ]
    classes += [f"ansi-{name}" for name in ("bold", "italic", "underline") if getattr(style, name)]
    if classes:
        words = f'<span class="{" ".join(classes)}">{words}</span>'
    return f'<a href="{html.escape(style.link)}">{words}</a>' if style.link else words
