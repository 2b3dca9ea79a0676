"""Right loops of turns."""

ORACLE = None
