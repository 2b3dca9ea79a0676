"""Right loops of rejection sampling; what they call is a notebook's."""

ORACLE = None
