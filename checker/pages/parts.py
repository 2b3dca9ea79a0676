"""Places kept free in a text for what is put in later, so that whatever rewrites the text never sees it.

A place is a number between two characters that no text has a use for. They are taken out of what a stranger wrote, so
no text can name a place, and `fill` looks at a text once, so what it puts in is not looked at again.
"""

import re

OPEN = "\ue000"  # of Unicode's private use area
CLOSE = "\ue001"
PLACE = re.compile(f"{OPEN}(\\d+){CLOSE}")


def without_places(text: str) -> str:
    """The text without the characters that mark a place."""
    return text.replace(OPEN, "").replace(CLOSE, "")


class Parts:
    """The pieces that are to be put in, in the order in which places were asked for."""

    def __init__(self) -> None:
        self.held: list[str] = []

    def put(self, html: str) -> str:
        """Keep a piece of HTML; returns the place that stands for it."""
        self.held.append(html)
        return f"{OPEN}{len(self.held) - 1}{CLOSE}"

    def fill(self, text: str) -> str:
        """The text with every piece in its place, once for each place in it."""
        return PLACE.sub(lambda place: self.held[int(place[1])] if int(place[1]) < len(self.held) else "", text)
