"""Right bills."""

ORACLE = None
