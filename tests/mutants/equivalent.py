"""Mutants that no caller could tell from the code: for each file a pattern (a regular expression) and the reason."""

EQUIVALENT = {
    "shared/kl.py": {
        r"exact_kl: .*masked_fill\(forbidden, 1\.0\)$": "The difference is multiplied by a probability of 0 there.",
    },
}
