"""Right tables of rewards."""

ORACLE = None
