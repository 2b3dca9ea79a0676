"""Right ways to evaluate; `sample` is what a notebook imports."""

ORACLE = None
