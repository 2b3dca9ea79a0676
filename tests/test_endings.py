"""The ends of the notebooks: the way to a longer and a wider run, and what comes next."""

from pathlib import Path

import pytest

from checker.outputs.chapters import chapters
from checker.reading.convert import to_markdown
from checker.reading.notebook import read

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "chapter", [one for one in chapters(ROOT) if one.trains != "nothing"], ids=lambda one: one.name
)
def test_a_notebook_says_how_to_run_it_longer_and_in_several_processes(chapter):
    """Catches the sentence that goes first when a chapter is shortened: who has a cluster then looks for it in vain."""
    ending = to_markdown(read(ROOT / chapter.notebook))[-2_500:]
    assert "`python -m shared.run " in ending or "nbconvert --to script" in ending
    assert "processes" in ending and ("torchrun" in ending or "--help" in ending)
