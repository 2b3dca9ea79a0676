"""A list of reports for programs: JSON, and Gradescope's results.json."""

import json

from checker.check import Report
from checker.findings import Finding, one_line
from checker.inventory import Skipped


def as_json(reports: list[Report], skipped: list[Skipped] = ()) -> str:
    """A list of reports; after them, with the status "skipped", the files that were not looked at."""
    rest = [{"name": one_line(file.name), "status": "skipped", "reason": file.reason} for file in skipped]
    return json.dumps([report.as_dict() for report in reports] + rest, indent=2, ensure_ascii=False)


def as_gradescope(reports: list[Report]) -> str:
    """One test for each finding, none worth points: the checker says what is wrong, a person grades.

    A question is neither passed nor failed, and stands below the rest.
    """
    found = [(report, finding) for report in reports for finding in report.findings]
    asked = [pair for pair in found if pair[1].level == "question"]
    tests = [_test(*pair) for pair in found if pair[1].level != "question"]
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
            "output": f"{passed} of {len(reports)} notebooks pass.",
            "visibility": "visible",
            "tests": tests,
        },
        indent=2,
        ensure_ascii=False,
    )


def _test(report: Report, finding: Finding) -> dict:
    status = {"error": "failed", "warning": "passed", "note": "passed"}.get(finding.level)
    return {
        "name": f"{report.name}: {finding.code}" + (f" in {finding.place}" if finding.place else ""),
        "score": 0,
        "max_score": 0,
        "output": f"{finding.sentence} {finding.advice}",
    } | ({"status": status} if status else {})
