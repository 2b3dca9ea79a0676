"""Reports for programs: JSON, and Gradescope's results.json."""

import json

import pytest

from checker.checking.check import Report
from checker.checking.formats import as_gradescope, as_json
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


@pytest.mark.parametrize("form", [as_json, as_gradescope])
def test_a_person_can_read_what_is_for_programs(form):
    """Catches everything in one line, and letters as numbers."""
    text = form(REPORTS)
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


def test_gradescope_gets_a_test_for_each_finding_and_one_where_there_is_none():
    """Catches points that the checker would give, a key that Gradescope does not know, and a question that fails."""
    nothing = {"score": 0, "max_score": 0}
    told = {"output": "it is wrong. Mend it."}
    name = "\u00dcbung.ipynb: S001"
    assert json.loads(as_gradescope(REPORTS, REST)) == {
        "score": 0,
        "output": "2 of 3 notebooks pass.\na b.png was not checked: not a notebook.\n"
        "b c.ipynb holds the same bytes as \u00dcbung.ipynb.",
        "visibility": "visible",
        "tests": [
            nothing | told | {"name": f"{name} in Cell 5", "status": "failed"},
            nothing | told | {"name": name, "status": "passed"},
            nothing | told | {"name": name, "status": "passed"},
            nothing | told | {"name": "d.ipynb: S001", "status": "passed"},
            nothing | {"name": "b c.ipynb", "status": "passed", "output": "1,234 of 40,000 characters."},
            nothing | told | {"name": name},
        ],
    }
