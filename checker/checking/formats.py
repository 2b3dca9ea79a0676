"""A list of reports for programs, as JSON."""

import json

from checker.checking.check import Report
from checker.reading.inventory import Inventory
from checker.reading.text import one_line

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
