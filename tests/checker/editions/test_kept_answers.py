"""Answers that a blank edition would keep: what is warned of, and what is not."""

from pathlib import Path

import pytest

from checker.editions.kept_answers import kept_answers
from checker.reading.notebook import Cell, Notebook

ANSWERED = "<!-- student answer: 2 points -->\nSo.\n<!-- end student answer -->"


def kept(analysis: str, kind: str = "markdown", label: str = "# Cell 8: Analysis") -> list[str]:
    """The lines of a warning that show the answers that stay."""
    cells = (Cell(0, "markdown", "# Cell 1: Plan\n\n**Points (3 points).** x"), Cell(1, kind, f"{label}\n\n{analysis}"))
    said = kept_answers(Notebook(Path("a.ipynb"), cells))
    assert all(one.startswith("a.ipynb, Cell 8: Analysis: ") for one in said)
    return [one.split("'")[1] for one in said]


@pytest.mark.parametrize(
    ("analysis", "shown"),
    [
        (f"**One (1 point).**\n{ANSWERED}\nAnd so.\n\nAnd more.", ["And so."]),
        (f"**One (1 point).**\n{ANSWERED}\nMore.\n{ANSWERED}", []),
        (f"**One (1 point).**\n{ANSWERED}\n**Two (2 points).** It did.", ["**Two (2 points).** It did."]),
        (f"**One.**\n*Worth 2 points.*\n{ANSWERED}\n\n1. **Two**\nIt cost 0.5 points.", ["1. **Two**"]),
        ("**One (1 point).**\n<!-- student answer -->\n**Yes.** It did.\n<!-- end student answer -->\n", []),
        (
            "### One\nA text.\n\n*Two.* Of 2 points.\n- *Three* (1 point)",
            ["*Two.* Of 2 points.", "- *Three* (1 point)"],
        ),
        ("**One.** Why?\n\n*Worth 3 points.*\n\nIt did.", ["**One.** Why?"]),
        ("**One.** It rose by 3 percentage points.", []),
    ],
)
def test_what_stands_below_an_answer_or_under_a_question_without_one_is_kept(analysis, shown):
    """Catches a question that ends at a bold word of its answer, and one that goes on into the next."""
    assert kept(analysis) == shown


def test_a_long_answer_is_shown_by_its_beginning():
    (shown,) = kept(f"**One (1 point).**\n{ANSWERED}\nIt rose {'and rose ' * 20}")
    assert shown.startswith("It rose and rose") and shown.endswith(" and ...") and len(shown) <= 60


def test_only_the_text_of_the_analysis_is_looked_at():
    """Catches a warning about the plan, about code, and a traceback for a notebook without an analysis."""
    assert kept("# 3 points", kind="code") == []
    assert kept("**One (1 point).** x", label="# Cell 7: Evaluation") == []
