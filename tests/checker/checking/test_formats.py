"""Reports for programs."""

import json

from checker.checking.check import Report
from checker.checking.formats import as_json
from checker.reading.inventory import Inventory, Skipped
from checker.rules.findings import Finding

LEVELS = ("question", "error", "warning", "note")
FOUND = tuple(
    Finding("S001", level, None, "it is wrong", "Mend it.", "Cell 5" * (level == "error")) for level in LEVELS
)
REPORTS = [
    Report("\u00dcbung.ipynb", "fail", FOUND, 100),
    Report("b c.ipynb", "pass", (), 1234),
    Report("d.ipynb", "pass", FOUND[3:], 100),
]
REST = Inventory(skipped=[Skipped("a\nb.png", "not a notebook")], twins={"b c.ipynb": "\u00dcbung.ipynb"})


def test_a_person_can_read_what_is_for_programs():
    """Catches everything in one line, and letters as numbers."""
    text = as_json(REPORTS)
    assert "\u00dcbung" in text and "\\u" not in text
    depths = {len(line) - len(line.lstrip()) for line in text.splitlines()}
    assert sorted(depths)[:3] == [0, 2, 4]


def test_the_json_has_each_report_then_what_was_not_looked_at():
    first, second, third, skipped = json.loads(as_json(REPORTS, REST))
    assert first == REPORTS[0].as_dict() | {"findings": first["findings"]} and len(first["findings"]) == 4
    assert second == REPORTS[1].as_dict() | {"findings": [], "same_bytes_as": "\u00dcbung.ipynb"}
    assert "same_bytes_as" not in third
    assert skipped == {"name": "a b.png", "status": "skipped", "reason": "not a notebook"}
    assert len(json.loads(as_json(REPORTS))) == 3
