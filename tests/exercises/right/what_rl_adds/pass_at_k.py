"""Right estimates of pass@k."""

from shared.statistics import pass_at_k

ORACLE = pass_at_k


EQUIVALENT = {"right and k exchanged": "C(n-c, k) / C(n, k) = C(n-k, c) / C(n, c): k of n miss c, as c of n miss k"}
