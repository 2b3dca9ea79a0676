"""Right weights of the exact gradient."""

ORACLE = None  # tests/test_exact.py holds such weights against an enumerated gradient


EQUIVALENT = {"p and R exchanged": "a product of numbers in any order"}
