"""A fixture for findings: those with one code on the notebook that a test has spoilt."""

import pytest

from checker.checking.check import check
from checker.rules.findings import Finding
from tests.checker.rules.looking import is_written_well


@pytest.fixture
def told(good, save):
    """The findings with one code on the notebook as it is now, each written as a sentence is."""

    def findings(wanted: str) -> list[Finding]:
        found = [finding for finding in check(save(good)).findings if finding.code == wanted]
        assert all(map(is_written_well, found))
        return found

    return findings
