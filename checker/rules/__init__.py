"""All rules, in the order in which their findings are told."""

from checker.rules import (
    checks,
    executed,
    filled,
    hygiene,
    learning,
    limit,
    method,
    reading,
    rendering,
    shown,
    structure,
)
from checker.rules.base import Rule as Rule
from checker.rules.base import Submission as Submission

READING = reading.cannot_be_read
RULES: list[Rule] = [
    *reading.RULES,
    *limit.RULES,
    *structure.RULES,
    *filled.RULES,
    *executed.RULES,
    *checks.RULES,
    *shown.RULES,
    *learning.RULES,
    *rendering.RULES,
    *hygiene.RULES,
    *method.RULES,
]
