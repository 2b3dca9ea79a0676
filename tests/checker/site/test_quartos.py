"""Pages of Quarto, brought to what the built-in pages show: pieces of its pages as version 1.7.34 writes them."""

import re

import pytest

from checker.pages.formulas import mathml
from checker.pages.templates import style
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
    assert '"><section id="section-0"' in shown and "</summary>\n<pre>" in shown


def test_a_formula_in_a_line_and_one_of_its_own_stay_what_they_are():
    """Catches a fraction in a line as large as one of its own, and an equation without a number that loses its place."""
    for display in ("inline", "block"):
        shown = as_built_in(page(f"<p>{MATH.format(display=display, tex='a')}</p>"))
        assert mathml("a", display == "block") in shown
    assert mathml("a", True) != mathml("a", False)
    shown = as_built_in(page(EQUATION.format(display="block", tex="L = -A")))
    assert f'<p><span id="eq-loss">{mathml("L = -A", True)}</span></p>' in shown


def test_two_formulas_are_two_and_may_have_several_lines():
    """Catches one formula in the place of two and the text between them."""
    written = MATH.format(display="inline", tex="a\n+ b")
    shown = as_built_in(page(f"<p>{written} between {written}</p>"))
    assert shown.count("<math") == 2 and "> between <" in shown and "theirs" not in shown


def test_nothing_is_loaded_from_elsewhere():
    """Catches scripts that Quarto adds for outputs of other notebooks, and what stands between two that is lost."""
    added = (
        '<script src="https://example.org/a.js" crossorigin="anonymous"></script>\n'
        "<script type=\"application/javascript\">define('jquery', [],\nfunction() {})</script>\n"
        '<script src="own.js"></script>'
    )
    shown = as_built_in(page(added))
    assert '<main id="quarto-document-content"><script src="own.js"></script></main>' in shown
    assert "jquery" not in shown and "example.org" not in shown


def test_a_page_has_one_way_past_its_lists_and_the_scripts_of_ours():
    """Catches a second link where a text names the body, and a button that does nothing."""
    shown = as_built_in(page("<pre><body></pre></body>"))
    skip = '<a class="skip" href="#quarto-document-content">Skip to the content</a>'
    assert shown.startswith(f"<html><body>{skip}<main") and shown.count(skip) == 1
    for name in ("enlarge.js", "ranking.js", "quarto_search.js"):
        assert shown.count(style(name)) == 1, name
    assert shown.index("<pre><body></pre><script>") < shown.index("</main>")


def test_a_page_of_the_built_in_engine_stays_as_it_is():
    """Catches a script that the policy of that page would refuse."""
    written = "<html><body><main><p>" + MATH.format(display="inline", tex="a") + "</p></main></body></html>"
    assert as_built_in(written) == written
