"""Right shares of wrong answers that are accepted."""

ORACLE = None
