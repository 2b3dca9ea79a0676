"""The numbered equations of the page of formulas, from the pages of the notebooks that they belong to."""

import re

from checker.site.equations import FORMULAS, Equation, by_notebook, named
from tests.checker.looking import PROJECT

TEXT = """
# Gradient

$$a$$ {#eq-a}

Derived in [gradients](../notebooks/gradients.ipynb), used in [dots](../notebooks/dots.ipynb).

$$b$$ {#eq-b}

Measured in [ppo](../notebooks/ppo.ipynb).

$$e$$ {#eq-e}

# Loss

$$c$$ {#eq-c}

$$d$$ {#eq-d}

By @eq-a. Written in [dots](../notebooks/dots.ipynb), again in [dots](../notebooks/dots.ipynb).
"""


def test_equations_belong_to_the_notebooks_named_below_them():
    """Catches an equation that is given to the notebooks of the one above it or of the next section, or twice."""
    a = Equation("eq-a", 1, "Gradient")
    b = Equation("eq-b", 2, "Gradient")
    c = Equation("eq-c", 4, "Loss")
    d = Equation("eq-d", 5, "Loss")
    assert named(TEXT) == {"gradients": [a], "dots": [a, c, d], "ppo": [b]}


def test_a_text_without_headings_may_name_a_notebook_first():
    """Catches a traceback at the first sentence, and a heading that nobody wrote."""
    link = "[{0}](../notebooks/{0}.ipynb)"
    found = named(f"Begin with {link.format('dots')}.\n\n$$a$$ {{#eq-a}}\n\nIn {link.format('ppo')}.\n")
    assert found.pop("dots", []) == [] and found == {"ppo": [Equation("eq-a", 1, "")]}


def test_a_notebooks_page_leads_to_its_formulas_by_their_numbers(course_pages):
    """Catches a number that is not the one beside the equation, and a notebook without its way to the formulas."""
    pages = {page.stem: page.read_text(encoding="utf-8") for page in course_pages}
    beside = re.findall(r'id="(eq-[\w-]+)"[^>]*>.*?<span>\((\d+)\)</span></p>', pages["formulas"], re.DOTALL)
    belonging = by_notebook(PROJECT)
    assert {"dots", "gradients", "ppo"} <= set(belonging)
    for notebook, equations in belonging.items():
        linked = re.findall(r'<a href="\.\./docs/formulas\.html#(eq-[\w-]+)">Equation (\d+)</a>', pages[notebook])
        assert linked == [(one.name, str(one.number)) for one in equations]
        assert set(linked) <= set(beside)


def test_the_cheat_sheet_has_a_line_of_every_notebook_with_formulas():
    """Catches a chapter that was added and that the sheet does not know."""
    text = (PROJECT / "docs" / "cheat_sheet.qmd").read_text(encoding="utf-8")
    found = set(re.findall(r"notebooks/(\w+)\.ipynb", text))
    assert set(by_notebook(PROJECT)) <= found


def test_every_equation_belongs_to_a_notebook():
    """Catches a formula of which its page does not say where it is derived or used."""
    names = re.findall(r"\{#(eq-[\w-]+)\}", (PROJECT / FORMULAS).read_text(encoding="utf-8"))
    belonging = {one.name for equations in by_notebook(PROJECT).values() for one in equations}
    assert belonging == set(names)
