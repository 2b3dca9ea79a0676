"""Remarks on the texts of a notebook: what no page shows as it was meant is told, with its cell."""

import pytest

from checker.reading.notebook import notebook_of
from checker.reading.prose.page import MOST_FORMULAS, names_of, remarks, texts
from checker.reading.prose.parser import MOST_BRACKETS
from tests.checker.conftest import code, markdown


def told(*sources: str) -> list[str]:
    notebook = notebook_of({"cells": [markdown(source) for source in sources]})
    return [remark.found for _, remark in remarks(texts(notebook))]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("$\\mysterious x$", "the command \\mysterious"),
        ("$\\begin{tikzpicture}a\\end{tikzpicture}$", "the environment tikzpicture"),
        ("$$a\n\nb$$", "an empty line stands in it"),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |", "more cells than its head, 2"),
        ("See @tbl-results.", "@tbl-results names nothing"),
        ("![a](attachment:a%20b.png)", "the picture a b.png is not attached"),
        ("A note[^1].", "footnote's mark without its footnote"),
        ("{{< video a.mp4 >}}", "a shortcode of Quarto's"),
        ("```{mermaid}\na --> b\n```", "a diagram"),
        ("::: {.callout-note}\na\n:::", "callout-note, which the page shows as a quotation"),
        ("::: {.panel-tabset}\na\n:::", "panel-tabset, which the page shows as its plain text"),
        ("[" * (MOST_BRACKETS + 1), "brackets, shown as it was written"),
        ("$" + "\\mathop{" * 400 + "}" * 400 + "$", "too many groups in each other"),
    ],
)
def test_what_no_page_shows_as_it_was_meant_is_told(source, found):
    """Catches a part of a text that goes in silence."""
    (remark,) = told(source)
    assert found in remark


@pytest.mark.parametrize(
    "source",
    [
        "$x_1$ and $$\\sum_i x_i$$ for $5",
        "| a | b |\n|---|---|\n| `x|y` | $|z|$ |\n| 1 |",
        "$$L$$ {#eq-loss}\n\nBy @eq-loss.",
        "![w](a.png){#fig-a}\n\n@fig-a",
        "A note[^1].\n\n[^1]: Here.",
        "`{{< x >}}` and `[^1]` and `@fig-x`",
        "someone@fig-tree.org",
        "```python\n$$\n```",
    ],
)
def test_what_is_shown_as_it_was_meant_is_not_told(source):
    assert told(source) == []


def test_names_and_macros_hold_for_all_cells_and_a_cell_is_named():
    """Catches a reference to an earlier or a later cell that is told as missing, and a remark on the wrong cell."""
    cells = [
        markdown("By @eq-a, @sec-b, @tbl-c, @fig-d and $\\R$."),
        markdown("# B {#sec-b}\n\n$$a$$ {#eq-a}\n\n$\\newcommand{\\R}{r}$ $\\unknown$"),
        code("#| label: tbl-c\nframe", "1"),
        code("#| label: fig-d\nplot()", "1"),
    ]
    notebook = notebook_of({"cells": cells})
    assert [(cell.number, remark.found) for cell, remark in remarks(texts(notebook))] == [
        (1, "a formula with the command \\unknown, which the page shows as it was written: \\unknown")
    ]
    assert names_of(notebook).words == {"tbl-c": "Table 1", "fig-d": "Figure 1", "sec-b": "B", "eq-a": "Equation 1"}


def test_formulas_without_end_are_not_all_tried():
    """Catches a check that takes minutes for a notebook of many formulas."""
    assert len(told("".join(f"$\\a{'b' * n}$ " for n in range(200)), "$\\x$")) == 201
    many = "".join(f"$x_{{{n}}}$" for n in range(MOST_FORMULAS))
    assert told(many, "$\\x$") == []
