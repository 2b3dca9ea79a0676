"""Right ways to keep the right samples."""

from shared.rejection import keep_right

ORACLE = keep_right
