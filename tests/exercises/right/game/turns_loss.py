"""Right losses of turns."""

ORACLE = None
