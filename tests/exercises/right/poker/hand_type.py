"""Right ways to name a poker hand."""

from shared.tasks import poker

ORACLE = poker.hand_type
