"""The index of the search: the sections of a page with their words, formulas on one line, nothing of what stands around."""

import json
from pathlib import Path

import pytest

from checker.pages.markdown import to_html
from checker.site import searching
from checker.site.builtin import Page
from checker.site.searching import Section, Sections


def found(html: str) -> list[tuple[str, str, str]]:
    """(anchor, heading, text) of each section of HTML."""
    return [(one.anchor, one.heading, one.text) for one in Sections(html).found]


def test_a_section_begins_at_a_heading_with_a_place():
    """Catches sections that run together, and a heading without a place, to which no link can lead."""
    html = '<p>Above.</p><h2 id="a">First <em>one</em></h2><p>Its text.</p><h3 id="b">Below</h3>More<h4 id="c">x</h4><h3>No</h3>'
    assert found(html) == [
        ("", "", "Above."),
        ("a", "First one", "Its text."),
        ("b", "Below", "More"),
        ("c", "x", "No"),
    ]


def test_a_section_of_quartos_begins_with_its_heading():
    """Catches Quarto's pages, whose places are those of the sections around the headings, in an index of one entry."""
    html = '<section id="a" class="level2 x"><h2>A</h2><p>one</p><section id="b" class="level3"><h3>B</h3></section></section>'
    assert found(html) == [("", "", ""), ("a", "A", "one"), ("b", "B", "")]
    assert found('<section id="a" class="other"><h2>A</h2></section><section><h2>B</h2></section>') == [("", "", "A B")]
    # The place of a section is that of its first heading alone.
    assert found('<section id="a" class="level2"><h2>A</h2><h3>B</h3></section>') == [("", "", ""), ("a", "A", "B")]


@pytest.mark.parametrize(
    "tag", ["style", "script", "svg", "form", "button", "noscript", "small", "nav", "header", "footer"]
)
def test_what_is_no_text_of_the_page_is_not_found(tag):
    """Catches a search for "print" that finds a script on every page."""
    assert found(f"<p>before <{tag}>left <b>out</b><img><br></{tag}>after</p>") == [("", "", "before after")]


@pytest.mark.parametrize("kind", ["output", "cell-output", "big cell-output cell-output-stdout"])
def test_outputs_are_not_found(kind):
    """Catches an index full of numbers, and one that ends at the first output."""
    assert found(f'<p>a</p><div class="{kind}"><pre>0.25</pre></div><p>b</p>') == [("", "", "a b")]
    assert found('<div class="puts">0.25</div><p class>b</p>') == [("", "", "0.25 b")]


@pytest.mark.parametrize("tag", ["code", "em", "strong", "a", "b", "i", "span", "sup", "sub"])
def test_a_word_that_is_marked_in_part_stays_one_word(tag):
    """Catches "re ward" in the index, which nobody who looks for "reward" finds."""
    assert found(f'<p>re<{tag} class="marked">wa</{tag}>rd</p><p>two</p>') == [("", "", "reward two")]


def test_code_in_colours_is_found_as_it_is_written():
    """Catches names that are torn apart by the tags of their colours."""
    html = to_html("```python\ndef reward(x):\n    return x.mean()\n```", "part")[0]
    assert found(html) == [("", "", "def reward(x): return x.mean()")]
    assert found('<span class="n">a</span><span class="p1">(</span>b') == [("", "", "a(b")]


@pytest.mark.parametrize(
    ("tex", "line"),
    [
        ("x_i", "x_i"), ("x^2", "x^2"), ("x_i^2", "x_i^2"), (r"\frac{a}{b}", "a / b"), (r"\hat{a} = b", "a^^ = b"),
        (r"\sum_{i=1}^n x_i", "∑_i = 1^nx_i"), (r"\min_a b", "min _ab"), ("a+b-c", "a + b − c"), ("abc", "abc"),
        (r"\log x \ge y", "log x ≥ y"),
    ],
)  # fmt: skip
def test_a_formula_stands_on_one_line(tex, line):
    """Catches an index that has "x2" for a square and "ab" for a quotient."""
    assert found(to_html(f"${tex}$", "part")[0]) == [("", "", line)]


def test_text_goes_on_behind_a_formula_and_a_heading_may_hold_one():
    """Catches a page that is silent from its first formula on."""
    html = to_html("# The ratio $x_i$ of\n\nHere $a_b$ and $c$ end.", "part")[0]
    assert found(html) == [("", "", ""), ("part-0", "The ratio x_i of", "Here a_b and c end.")]


@pytest.mark.parametrize(
    ("tag", "line"), [("munder", "a_b"), ("mover", "a^b"), ("munderover", "a_b^c"), ("mrow", "abc")]
)
def test_parts_of_a_formula_are_parted_by_their_signs(tag, line):
    """Catches a sign before the first part of a formula, or behind the last."""
    parts = "".join(f"<mi>{sign}</mi>" for sign in ("abc" if "c" in line else "ab"))
    assert found(f"<math><{tag}>{parts}</{tag}></math>") == [("", "", line)]


def test_a_section_has_its_words_on_one_line():
    assert Section("a", words=["one\n ", " two", "three "]).text == "one twothree"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Finished pages."""
    (tmp_path / "docs").mkdir()
    words = '<nav>no</nav><main id="x"><p>größer</p><h2 id="p">A\n part</h2>text</main>'
    pages = {"index.html": words, "docs/glossary.html": words, "docs/api.html": words, "first.html": words}
    for name, html in pages.items():
        (tmp_path / name).write_text(html, encoding="utf-8")
    return tmp_path


KINDS = {"index.qmd": "text", "docs/glossary.qmd": "term", "docs/api.qmd": "interface", "first.ipynb": "notebook"}


def test_the_index_has_every_page_with_its_kind(folder):
    """Catches an address that leads nowhere, a kind by which pages are ranked wrongly, and a page without its subtitle."""
    pages = [Page(Path(name), f"T {name}", "", [], subtitle="sub", description="told") for name in KINDS]
    script = searching.index(folder, pages)
    assert script.startswith("globalThis.searched = [{") and script.endswith("}];\n") and "größer" in script
    listed = json.loads(script.removeprefix("globalThis.searched = ").removesuffix(";\n"))
    assert [one["kind"] for one in listed] == list(KINDS.values())
    assert [one["title"] for one in listed] == [f"T {name}" for name in KINDS]
    assert [one["address"] for one in listed] == [Path(name).with_suffix(".html").as_posix() for name in KINDS]
    for one in listed:
        assert one["sections"] == [["", "", "sub told größer"], ["p", "A part", "text"]]
    assert ": " not in script.partition("= ")[2] and ", " not in script  # a byte for each of thousands
