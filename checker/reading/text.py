"""Text of strangers that is shown to people: on one line, without what rewrites a terminal, and no longer than one reads."""

import re

LONGEST = 6_000  # characters
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")  # of Markdown; where it leads stays on the page itself


def quoted(text: str) -> str:
    """The text with links as their words; where it is cut, that is said."""
    text = text.strip()
    kept = LINK.sub(r"\1", text[:LONGEST])
    return kept if len(text) <= LONGEST else f"{kept}\n... ({len(text) - LONGEST:,} more characters)"


def one_line(text: str) -> str:
    """Printable text without line breaks: a name with one could pass for another notebook's verdict."""
    return printable(text).replace("\n", " ")


def printable(text: str) -> str:
    """Text that may be printed: control, invisible and direction characters show as replaced.

    Otherwise a name could rewrite what the terminal shows of the others.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
