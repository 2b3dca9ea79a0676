"""Right ways to recognise the two blocks."""

from shared.tasks import addition

ORACLE = addition.format_reward


EQUIVALENT = {
    "kept: return [fits and alone for fits, alone in zip(once, matches)]": "of two numbers or truths, in any order",
}
