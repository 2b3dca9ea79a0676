"""Right calculators."""

from shared.tasks import addition

ORACLE = addition.calculator()
