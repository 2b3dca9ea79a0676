"""The templates, the style and the scripts: a page has all of them inside, and its policy knows the scripts."""

import base64
import hashlib
import re

from checker.checking.check import unreadable
from checker.pages.templates import HERE, css, rendered, style, with_code, with_math_font
from checker.reading.notebook import Unreadable


def page(**content) -> str:
    """The page that lists no notebook, with two scripts."""
    return rendered("index.html.j2", ("index.js", "enlarge.js"), title="Notebooks", rows=[], passed=0, **content)


def test_the_scripts_of_a_page_are_whole_and_the_only_ones_that_its_policy_lets_run():
    """Catches a page whose buttons do nothing, because its script is another than the one that the policy names."""
    made = page()
    (script,) = re.findall("<script>(.*?)</script>", made, re.DOTALL)
    assert script == style("index.js") + "\n" + style("enlarge.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in made


def test_what_is_put_into_a_template_is_text():
    """Catches a title that ends the head of its page."""
    made = rendered("index.html.j2", ("index.js",), title="</title><script>", rows=[], passed=0)
    assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in made


def test_a_sentence_of_the_checkers_shows_its_code_as_code():
    """Catches backticks on a page."""
    report = unreadable("a.ipynb", Unreadable("Save it as `a.ipynb`."))
    made = rendered("index.html.j2", ("index.js",), title="x", rows=[(report, "")], passed=0)
    assert "Save it as <code>a.ipynb</code>." in made


def test_the_tags_of_a_template_leave_no_empty_lines():
    assert "\n\n" not in page().partition("<main")[2].partition("<script>")[0]


def test_each_colour_has_a_light_and_a_dark_value():
    """Catches one theme's colours in both places."""
    light, dark = style("light.scss"), style("dark.scss")
    found = re.findall(r"--page: light-dark\((#\w+), (#\w+)\)", css())
    assert found == [(re.search(r"\$body-bg: (#\w+)", light)[1], re.search(r"\$body-bg: (#\w+)", dark)[1])]
    assert style("both.scss") + "\n" + style("page.css") in css() and style("page.css") in page()


def test_code_between_backticks_is_code_and_the_rest_is_text():
    assert with_code("Take `a < b`, not `c` & ` alone\n`") == (
        "Take <code>a &lt; b</code>, not <code>c</code> &amp; ` alone\n`"
    )


def test_a_page_carries_its_font_once():
    """Catches 57 kB for each style of a page or for a page without formulas, and a font that outgrows a report."""
    given = "<style>a</style><style>b</style><math></math>"
    made = with_math_font(given)
    assert made.count("@font-face") == 1 and made.index("@font-face") < made.index("b</style>")
    font = base64.b64decode(re.search("data:font/woff2;base64,([^)]*)", made)[1])
    assert font == (HERE / "math.woff2").read_bytes() and font.startswith(b"wOF2") and len(made) < 60_000
    assert with_math_font("<style></style><p>math</p>") == "<style></style><p>math</p>"
