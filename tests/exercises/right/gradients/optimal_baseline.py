"""Right baselines of least variance."""

ORACLE = None


EQUIVALENT = {
    "p and score_norms exchanged": "their product alone is used",
}
