"""The card of a notebook: what its header says, the picture of what came of it, and nothing that is made up."""

from pathlib import Path

from checker.pages.card import Card, card
from checker.reading.notebook import Cell, Notebook, Output

HEADER = """---
title: Dots
description: Count the dots.
course:
  minutes: "3"
  reading-minutes: "35"
  core-minutes: "40"
  further-minutes: "20"
  answer-minutes: "25"
  level: first
  builds-on: [earlier, unknown]
  goals: [count, compare]
  needs: big
---"""


def plot(number: int, label: str, *pixels: str) -> Cell:
    """A cell that shows pictures, each with its caption."""
    captions = ", ".join(f"of {pixel}" for pixel in pixels)
    shown = tuple(Output("result", "", {"image/png": pixel}) for pixel in pixels)
    return Cell(number, "code", f"#| fig-cap: [{captions}]\n{label}\nplot()", 1, (Output("stream", "x"), *shown))


def made(*cells: Cell) -> Card:
    return card(Path("notebooks/dots.ipynb"), Notebook(Path("dots.ipynb"), cells), {"earlier": "An earlier one"})


def test_a_card_says_what_the_header_says():
    """Catches one key in the place of another, and a notebook that is named by its file where its title is known."""
    found = made(Cell(0, "markdown", HEADER))
    assert found == Card(
        link="notebooks/dots.html",
        title="Dots",
        description="Count the dots.",
        minutes="3",
        reading_minutes="35",
        core_minutes="40",
        further_minutes="20",
        answer_minutes="25",
        level="first",
        needs=["An earlier one", "unknown"],
        model="big",
        goals=["count", "compare"],
        picture="",
        alternative="",
    )


def test_what_a_header_does_not_say_is_left_out():
    """Catches a traceback, or a list where words belong, for a header in another form."""
    header = "---\ntitle: Dots\ndescription: [a]\ncourse: {minutes: {a: b}, builds-on: earlier, goals: [[a], b]}\n---"
    found = made(Cell(0, "markdown", header))
    assert (found.description, found.minutes, found.level, found.core_minutes) == ("", "", "", "")
    assert (found.needs, found.goals) == ([], ["b"])
    assert made(Cell(0, "markdown", "# Dots")).goals == made(Cell(0, "markdown", "---\ncourse: 3\n---")).goals == []


def test_the_picture_is_the_first_of_the_results_else_the_last_of_all():
    """Catches the first picture of a notebook on its card, and words that belong to another one."""
    early, late = plot(1, "# Cell 3: Data", "AAAA"), plot(3, "# Cell 8: More", "EEEE", "FFFF")
    result = plot(2, "# Cell 7: Evaluation", "BBBB", "CCCC")
    with_result, without = made(early, result, late), made(early, late)
    assert (with_result.picture, with_result.alternative) == ("data:image/png;base64,BBBB", "of BBBB")
    assert (without.picture, without.alternative) == ("data:image/png;base64,FFFF", "of FFFF")
