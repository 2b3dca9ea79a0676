"""A list of reports for programs: JSON, and Gradescope's results.json."""

import json

from checker.check import Report
from checker.findings import one_line
from checker.inventory import Skipped


def as_json(reports: list[Report], skipped: list[Skipped] = ()) -> str:
    """A list of reports; after them, with the status "skipped", the files that were not looked at."""
    rest = [{"name": one_line(file.name), "status": "skipped", "reason": file.reason} for file in skipped]
    return json.dumps([report.as_dict() for report in reports] + rest, indent=2, ensure_ascii=False)


def as_gradescope(reports: list[Report]) -> str:
    """One test for each finding, none worth points: the checker says what is wrong, a person grades."""
    tests = [
        {
            "name": f"{report.name}: {finding.code}" + (f" in {finding.place}" if finding.place else ""),
            "status": "failed" if finding.level == "error" else "passed",
            "score": 0,
            "max_score": 0,
            "output": f"{finding.found}. {finding.advice}",
        }
        for report in reports
        for finding in report.findings
    ]
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
