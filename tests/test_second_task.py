"""The second example of a task of one's own: as it is saved, and run again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checker.checking.check import check

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "notebooks" / "examples" / "second_task.ipynb"


def test_the_example_is_accepted_as_it_is_saved():
    """Catches an example that shows what the checker would not take from a student."""
    report = check(EXAMPLE)
    assert report.status == "pass" and report.shows_its_claim
    assert report.checks == report.checks_passed == 4
    assert [finding for finding in report.findings if finding.level in ("error", "warning")] == []


def test_the_assignment_names_the_example():
    """Catches an example that nobody finds."""
    cells = json.loads((ROOT / "notebooks" / "own_task.ipynb").read_text(encoding="utf-8"))["cells"]
    assert str(EXAMPLE.relative_to(ROOT)) in "".join("".join(cell["source"]) for cell in cells)


@pytest.mark.slow
def test_the_example_runs_and_learns_today(tmp_path):
    """Catches an example that the course has outgrown."""
    copy = tmp_path / "second_task.ipynb"
    shutil.copy(EXAMPLE, copy)
    command = [sys.executable, "-m", "checker", "report", "--require-claim", str(copy)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
