"""The ends of the notebooks: the way to a longer and a wider run, and what comes next."""

from pathlib import Path

import pytest

from checker.reading.convert import to_markdown
from checker.reading.notebook import read

FOLDER = Path(__file__).parents[1] / "notebooks"
# What is computed exactly needs no longer run.
NOTHING_TO_TRAIN = {"gradients": "exact gradients by enumeration", "maxent_irl": "tables on a grid"}
TRAINS = [path for path in sorted(FOLDER.glob("*.ipynb")) if path.stem not in NOTHING_TO_TRAIN]


@pytest.mark.parametrize("path", TRAINS, ids=lambda path: path.stem)
def test_a_notebook_says_how_to_run_it_longer_and_in_several_processes(path):
    """Catches the sentence that goes first when a chapter is shortened: who has a cluster then looks for it in vain."""
    ending = to_markdown(read(path))[-2_500:]
    assert "`python -m shared.run " in ending or "nbconvert --to script" in ending
    assert "processes" in ending and ("torchrun" in ending or "--help" in ending)
