"""Right ways to say whether a problem is solved."""

from shared.tasks import countdown

ORACLE = countdown.correctness_reward


EQUIVALENT = {
    "solved: return [hit and right for hit, right in zip(fair, hits)]": "of two numbers or truths, in any order",
}
