"""Right votes."""

from shared.selection import vote

ORACLE = vote
