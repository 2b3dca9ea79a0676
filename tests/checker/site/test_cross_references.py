"""Numbered equations and figures of the built-in site's pages, and what refers to them."""

import re

import pytest

from checker.pages.markdown import to_html
from tests.checker.looking import PROJECT


def shown(source: str) -> str:
    return to_html(source, "part", lambda address: "data:image/png;base64,eA==")[0]


def test_equations_and_figures_are_counted_apart():
    """Catches one count for both, a number that the reference does not share, a name that stays in the text."""
    html = shown(
        "$$a$$ {#eq-one}\n\n![b & c](b.png){#fig-b}\n\n$$\nd\n$$ {#eq-two}\n\nBy @eq-two, @eq-one and @fig-b.\n"
    )
    assert re.findall(r'id="((?:eq|fig)-\w+)"', html) == ["eq-one", "fig-b", "eq-two"]
    assert re.findall(r"<span>\((\d)\)</span>", html) == ["1", "2"]
    assert "<figcaption>Figure 1: b &amp; c</figcaption>" in html
    links = re.findall(r'<a href="#([^"]+)"[^>]*>(.*?)</a>', html)
    assert links == [("eq-two", "Equation 2"), ("eq-one", "Equation 1"), ("fig-b", "Figure 1")]
    assert "{#" not in html and "@" not in html


def test_a_figures_alternative_text_is_not_its_caption():
    """Catches a picture that is read out as its caption, twice, and attributes that stay in the text."""
    html = shown('![b & c](b.png){#fig-b fig-alt="a curve, rising"}\n')
    assert re.findall(r'alt="(.*?)"', html) == ["a curve, rising"]
    assert "<figcaption>Figure 1: b &amp; c</figcaption>" in html
    assert "{#" not in html


def test_every_named_figure_of_a_page_has_an_alternative_text():
    """Catches a picture of which Quarto, which takes its words for the caption, tells the blind nothing."""
    pages = [PROJECT / "index.qmd", *PROJECT.glob("docs/*.qmd")]
    named = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if "{#fig-" in line]
    assert named
    assert [line for line in named if 'fig-alt="' not in line] == []


@pytest.mark.parametrize("source", ["`@eq-one`", "```\n@eq-one\n```", "a@eq-one", "@eq-two", "$$a$$", "![b](b.png)"])
def test_what_names_nothing_stays_as_it_is(source):
    """Catches code and addresses that are turned into links, and links to places that are not there."""
    assert shown(f"$$a$$ {{#eq-one}}\n\n{source}").split("</p>", 1)[1] == f"\n{shown(source)}"


def test_no_page_of_the_course_refers_to_nothing(course_pages):
    """Catches an equation that was renamed and a reference to one of another page, which neither engine resolves."""
    for page in course_pages:
        if page.parent.name != "notebooks":
            text = re.sub(r"<(code|pre|script)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
            assert not re.findall(r"@(?:eq|fig)-[\w-]+|\{#[\w-]+\}", text), page
    assert any("{#eq-" in path.read_text(encoding="utf-8") for path in PROJECT.glob("docs/*.qmd"))
