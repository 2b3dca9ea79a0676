"""The checker as the page "Check your notebook" calls it: in a worker, without anything installed.

The page's worker hands over a file's name and bytes and is given JSON: first what the file holds, then one report at a
time, since one that takes too long is given up and must not take the others with it.
"""

import json
import sys
import tempfile
from pathlib import Path

from checker import __version__
from checker.checking.check import check, unreadable
from checker.outputs.check_results import CheckResult
from checker.reading import inventory
from checker.reading.convert import Section
from checker.reading.notebook import Unreadable, read
from checker.reading.text import one_line
from checker.rules import Submission
from checker.rules.findings import Finding, alike, further_places

MOST_CELLS = 8  # of the largest
VERSIONS = f"checker {__version__}, Python {'.'.join(map(str, sys.version_info[:3]))}"


class Dropped:
    """A file that was dropped on the page: a notebook, a converted one, or a zip of many."""

    def __init__(self, name: str, content: bytes):
        """Raises OSError where no file can have this name."""
        self._folder = tempfile.TemporaryDirectory()
        given, scratch = (Path(self._folder.name, part) for part in ("given", "unpacked"))
        given.mkdir()
        scratch.mkdir()
        (given / name).write_bytes(content)
        self._before = f"{given}/"
        self._found = inventory.take([given / name], scratch)

    def listed(self) -> str:
        """The names of what is to be checked, and of what is not, with the reason."""
        skipped = [{"name": self._name(file), "reason": file.reason} for file in self._found.skipped]
        return json.dumps({"names": [self._name(entry) for entry in self._found.entries], "skipped": skipped})

    def checked(self, number: int) -> str:
        """The report on one of the names, and what the page shows of it."""
        entry = self._found.entries[number]
        return json.dumps(_told(entry, self._name(entry)))

    def _name(self, found: inventory.Entry | inventory.Skipped) -> str:
        """As the command line calls it in the folder where it lies."""
        return one_line(found.name.removeprefix(self._before))


def _told(entry: inventory.Entry, name: str) -> dict:
    """report: as the command line's JSON has it.    findings: those that are alike together.

    sections, largest: the characters of each section and of the largest cells.    results: of the checks.
    """
    failed = entry.error
    report = unreadable(name, failed) if failed else check(entry.file, name=name, beside=False)
    findings = [_together(findings) for findings in alike(report.findings)]
    told = {"report": report.as_dict(), "facts": report.facts, "findings": findings}
    try:
        submission = Submission(read(entry.file))
    except Unreadable:  # which the report says, or it is text that was converted elsewhere
        return told | {"sections": [], "largest": [], "results": []}
    converted = submission.converted
    largest = sorted(converted, key=lambda section: -section.characters)[:MOST_CELLS]
    sections = [[converted[cell.number] for cell in cells] for cells in submission.sections.values()]
    return told | {
        "sections": [_size(submission, section) for section in sections],
        "largest": [_size(submission, [cell]) for cell in largest],
        "results": [_result(submission, result) for result in submission.check_results],
    }


def _together(findings: list[Finding]) -> dict:
    """The first of findings that are alike, how many others there are, and where."""
    first = findings[0]
    told = {name: getattr(first, name) for name in ("level", "code", "place", "sentence", "advice")}
    return told | {"others": len(findings) - 1, "further": further_places(findings)}


def _size(submission: Submission, cells: list[Section]) -> dict:
    """The characters of some cells, under the name of the first."""
    return {
        "place": submission.place(cells[0].cell.number),
        "source": sum(len(cell.source) for cell in cells),
        "output": sum(len(cell.output) for cell in cells),
    }


def _result(submission: Submission, result: CheckResult) -> dict:
    place = submission.place(result.cell)
    return {
        "exercise": one_line(result.exercise),
        "passed": result.passed,
        "said": one_line(result.said),
        "place": place,
    }
