"""Pages of Quarto, brought to what the built-in pages show: pieces of its pages as version 1.7.34 writes them."""

import re

import pytest

from checker.pages.formulas import mathml
from checker.site.quartos import as_built_in

MATH = (
    '<math display="{display}" xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mo>theirs</mo></mrow>'
    '<annotation encoding="application/x-tex">{tex}</annotation></semantics></math>'
)
EQUATION = '<p><span id="eq-loss">' + MATH + "</span></p>"
CELL_0 = (
    '<section id="section-0" class="level2">\n<h2 class="anchored" data-anchor-id="section-0">Cell 0: Header</h2>\n'
    '<details class="code-fold"><summary>Show the header</summary>\n<pre>title: A</pre>\n</details>\n</section>'
)


def page(content: str) -> str:
    return f'<html><body><main id="quarto-document-content">{content}</main></body></html>'


def test_formulas_are_made_again_from_their_tex():
    """Catches a bracket that pandoc gives no unit, so that no browser makes it large, and TeX that was not unescaped."""
    shown = as_built_in(page("<p>" + MATH.format(display="inline", tex=r"\big[a &lt; b\big]") + " and more</p>"))
    assert mathml(r"\big[a < b\big]", False) in shown and "theirs" not in shown
    assert 'minsize="1.2em"' in shown


def test_an_equation_has_its_number_at_the_right_edge():
    """Catches a number that stands in the formula, and a place that links no longer lead to."""
    shown = as_built_in(page(EQUATION.format(display="block", tex=r"L = -A \qquad(4)")))
    assert f'<p class="equation" id="eq-loss">{mathml("L = -A", True)}<span>(4)</span></p>' in shown


@pytest.mark.parametrize("written", [MATH, EQUATION])
def test_a_formula_that_cannot_be_read_stays_as_quarto_has_it(written):
    formula = written.format(display="block", tex=r"a^b^c \qquad(1)")
    assert formula in as_built_in(page(formula))


def test_cell_0_is_one_line_and_has_its_place():
    """Catches a heading like a section's above settings that nobody reads, and one that holds a link inside a summary."""
    shown = as_built_in(page(CELL_0))
    assert re.search(r'id="section-0"[^>]*><details class="settings"><summary><h2>Cell 0: Header</h2></summary>', shown)
    assert shown.count("<summary>") == shown.count("</details>") == 1 and "<pre>title: A</pre>" in shown


def test_a_page_of_the_built_in_engine_stays_as_it_is():
    """Catches a script that the policy of that page would refuse."""
    written = "<html><body><main><p>" + MATH.format(display="inline", tex="a") + "</p></main></body></html>"
    assert as_built_in(written) == written
