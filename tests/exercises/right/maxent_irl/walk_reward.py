"""Right ways to add up the reward of a walk."""

ORACLE = None  # the package works with expected visits and never needs the reward of one walk
