"""Right reverse KL of a token."""

from shared.kl import exact_kl

ORACLE = exact_kl
