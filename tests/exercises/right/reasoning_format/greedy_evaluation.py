"""Right ways to evaluate greedily by two rewards; `policy` and `sample` are a notebook's."""

ORACLE = None
