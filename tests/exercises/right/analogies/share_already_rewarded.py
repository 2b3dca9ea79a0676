"""Right shares of evaluation rows whose pair was rewarded."""

ORACLE = None
