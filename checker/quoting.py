"""What a person wrote, repeated where it is graded: as words, and no longer than a grader reads at one place."""

import re

LONGEST = 6_000  # characters
LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")  # of Markdown; where it leads stays on the page itself


def quoted(text: str) -> str:
    """The text with links as their words; where it is cut, that is said."""
    text = text.strip()
    kept = LINK.sub(r"\1", text[:LONGEST])
    return kept if len(text) <= LONGEST else f"{kept}\n... ({len(text) - LONGEST:,} more characters)"
