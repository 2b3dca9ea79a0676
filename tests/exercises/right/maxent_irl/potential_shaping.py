"""Right payments for steps from one potential to another."""

ORACLE = None  # the package plans with rewards of states; tests/irl/test_shaping.py asks the payments what they are for
