"""All rules, in the order in which their findings are told. A course adds one by appending it to `RULES`."""

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
from checker.rules.base import Rule, Submission

GROUPS = {
    "reading": reading.RULES,
    "limit": limit.RULES,
    "structure": structure.RULES,
    "filled": filled.RULES,
    "executed": executed.RULES,
    "checks": checks.RULES,
    "shown": shown.RULES,
    "learning": learning.RULES,
    "rendering": rendering.RULES,
    "hygiene": hygiene.RULES,
    "method": method.RULES,
}
READING = reading.cannot_be_read
RULES: list[Rule] = [rule for rules in GROUPS.values() for rule in rules]

__all__ = ["GROUPS", "READING", "RULES", "Rule", "Submission"]
