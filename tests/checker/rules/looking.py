"""The findings of rules, and a test of how they are written."""

import re
from pathlib import Path
from types import ModuleType

from checker.reading.notebook import Cell, Notebook
from checker.rules import Submission
from checker.rules.findings import Finding

GLUED = re.compile(r"\A[A-Z]{2,}[a-z]|[a-z.?][A-Z]{2}\Z")


def found(rules: ModuleType, *cells: str) -> list[Finding]:
    """The findings of a module's rules on a notebook of these code cells, each written as a sentence is."""
    read = tuple(Cell(number, "code", source, number + 1) for number, source in enumerate(cells))
    submission = Submission(Notebook(Path("notebook.ipynb"), read))
    findings = [finding for rule in rules.RULES for finding in rule.findings(submission)]
    assert all(map(is_written_well, findings))
    return findings


def codes(rules: ModuleType, *cells: str) -> list[str]:
    """The codes of these findings."""
    return [finding.code for finding in found(rules, *cells)]


def is_written_well(finding: Finding) -> bool:
    """True if what was found and what to do are prose, and the advice begins as a sentence does.

    Not so with capitals throughout, or with letters at an end that belong to no word.
    """
    plain = all(not text.isupper() and not GLUED.search(text) for text in (finding.found, finding.advice))
    return plain and not re.match(r"(?!torch)[a-z]+\b", finding.advice)
