"""A list of reports for programs: JSON, and Gradescope's results.json."""

import json

from checker.checking.check import Report
from checker.reading.inventory import Inventory
from checker.reading.text import one_line
from checker.rules.findings import Finding

NOTHING_ELSE = Inventory()


def as_json(reports: list[Report], found: Inventory = NOTHING_ELSE) -> str:
    """A list of reports, of a copy with the name of the first; after them, as "skipped", what was not looked at."""
    firsts = {one_line(name): one_line(first) for name, first in found.twins.items()}
    told = [
        report.as_dict() | ({"same_bytes_as": firsts[report.name]} if report.name in firsts else {})
        for report in reports
    ]
    rest = [{"name": one_line(file.name), "status": "skipped", "reason": file.reason} for file in found.skipped]
    return json.dumps(told + rest, indent=2, ensure_ascii=False)


def as_gradescope(reports: list[Report], inventory: Inventory = NOTHING_ELSE) -> str:
    """One test for each finding, none worth points: the checker says what is wrong, a person grades.

    A question is neither passed nor failed, and stands below the rest. What was not looked at, and what is there twice,
    stands in the output.
    """
    found = [(report, finding) for report in reports for finding in report.findings]
    asked = [pair for pair in found if pair[1].level == "question"]
    tests = [_test(*pair) for pair in found if pair[1].level != "question"]
    # Without a test Gradescope would show nothing at all for a notebook that has no findings.
    tests += [
        {
            "name": report.name,
            "status": "passed",
            "score": 0,
            "max_score": 0,
            "output": f"{report.characters:,} of {report.limit:,} characters.",
        }
        for report in reports
        if not report.findings
    ]
    tests += [_test(*pair) for pair in asked]
    passed = sum(report.status == "pass" for report in reports)
    return json.dumps(
        {
            "score": 0,
            "output": "\n".join([f"{passed} of {len(reports)} notebooks pass.", *_account(inventory)]),
            "visibility": "visible",
            "tests": tests,
        },
        indent=2,
        ensure_ascii=False,
    )


def _account(inventory: Inventory) -> list[str]:
    """A line on each file that was not looked at, or holds what an earlier one holds."""
    skipped = [f"{one_line(file.name)} was not checked: {file.reason}." for file in inventory.skipped]
    copies = [f"{one_line(name)} holds the same bytes as {one_line(first)}." for name, first in inventory.twins.items()]
    return [*skipped, *copies]


def _test(report: Report, finding: Finding) -> dict:
    status = {"error": "failed", "warning": "passed", "note": "passed"}.get(finding.level)
    return {
        "name": f"{report.name}: {finding.code}" + (f" in {finding.place}" if finding.place else ""),
        "score": 0,
        "max_score": 0,
        "output": f"{finding.sentence} {finding.advice}",
    } | ({"status": status} if status else {})
