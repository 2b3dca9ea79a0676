"""Weights that can stand in for the ratio: nothing says which of them is asked for."""

ORACLE = None


EQUIVALENT = {
    "weight: return 2 / (1 + ratio)": "another weight of one's own: it falls as the ratio rises, and nothing forbids that",
    "advantages is always 0": "a weight need not look at the advantage, and the reference does not",
}
