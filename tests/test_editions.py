"""The worked notebooks' own solutions, as their saved outputs show them."""

import json
import re
from pathlib import Path

import pytest

from checker.reading.exercises import exercises

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_solutions_pass_every_check(path):
    """In the saved outputs of the worked notebook each `check.` call has printed a tick."""
    for cell in code_cells(path):
        shown = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell["outputs"]]
        printed = "\n".join("".join(text) for text in shown)
        calls = len(re.findall(r"^(?:if )?check\.\w+\(", "".join(cell["source"]), re.MULTILINE))
        assert printed.count("✓") >= calls and "✗" not in printed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_each_exercise_says_what_it_is_worth_and_how_long_it_takes(path):
    asked = [exercise for exercise in exercises(code_cells(path)) if not exercise.written]
    assert asked and all(exercise.what and exercise.minutes for exercise in asked), asked
