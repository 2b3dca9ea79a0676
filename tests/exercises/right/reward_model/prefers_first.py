"""Right ways to draw choices."""

ORACLE = None


EQUIVALENT = {"chosen: return uniform <= probability": "a number that is the probability itself is never drawn"}
