"""The method rules that are asserted: the code says what the table of the measured figures says."""

import re
from collections import defaultdict
from pathlib import Path

from checker.rules import method

README = Path(__file__).parents[4] / "benchmarks" / "method_rules" / "README.md"
PATTERN = re.compile(r"^\| (M\d+).* \| (asserted|asked) \|$", re.MULTILINE)


def test_the_rules_assert_what_the_figures_bear():
    """Catches a rule that is asserted, or asked, against its figures."""
    measured = defaultdict(set)
    for code, how in PATTERN.findall(README.read_text(encoding="utf-8")):
        measured[code].add(how)
    borne = {code for code, ways in measured.items() if "asserted" in ways}
    assert {rule.code for rule in method.RULES if rule.level != "question"} == borne
    assert {rule.code for rule in method.RULES if rule.asks} >= {code for code in borne if len(measured[code]) > 1}
