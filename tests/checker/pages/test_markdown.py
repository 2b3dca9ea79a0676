"""Markdown as HTML that may stand on a page."""

import re

import pytest

from checker.pages.markdown import Heading, highlighted, polished, to_html, without_gaps
from checker.pages.sanitise import no_picture
from checker.reading.prose.tex import Names


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("~~gone~~ <b>bold</b>", "<p><del>gone</del> <b>bold</b></p>\n"),
        (
            "https://example.org/a",
            '<p><a href="https://example.org/a" rel="noopener noreferrer">https://example.org/a</a></p>\n',
        ),
        ("term\n: what it means", "<dl>\n<dt>term</dt>\n<dd>what it means</dd>\n</dl>\n"),
        ("![a](data:image/svg+xml;base64,AAAA)", '<p><img src="data:image/svg+xml;base64,AAAA" alt="a"></p>\n'),
        ("[a](file:///etc/passwd)", '<p><a rel="noopener noreferrer">a</a></p>\n'),
    ],
)
def test_the_markdown_of_notebooks_is_read(source, made):
    """Catches tags that are shown as text, a dialect without its extensions, and a link to a place that is nowhere."""
    assert to_html(source, "a") == (made, [])


@pytest.mark.parametrize(
    ("fence", "coloured"), [("python", True), ("python title=x", True), ("", False), ("nolanguage", False)]
)
def test_code_is_in_the_colours_of_its_language(fence, coloured):
    """Catches a language that is not looked at, one with an option behind it, and a traceback for an unknown one."""
    made, _ = to_html(f"```{fence}\nreturn 1\n\nx\n```")
    assert ('<span class="k">return</span>' in made) == coloured
    assert made.count('<span class="li">') == 3


def test_code_keeps_its_lines_and_its_words():
    made = highlighted("a  b\n\nc & d", "nolanguage")
    lines = '<span class="li">a  b\n</span><span class="li">\n</span><span class="li">c &amp; d\n</span>'
    assert made == f'<div class="highlight"><pre><span></span>{lines}</pre></div>\n'


def test_headings_are_listed_by_place_and_stand_one_level_lower():
    """Catches a heading above the page's title, one below the last level, and markup in the list of contents."""
    made, found = to_html("# First *a* &amp; b\n\n## Second\n\n###### Sixth", "cell-4")
    assert found == [
        Heading("cell-4-0", "First a & b", 1),
        Heading("cell-4-1", "Second", 2),
        Heading("cell-4-2", "Sixth", 6),
    ]
    assert made == (
        '<h2 id="cell-4-0">First <em>a</em> &amp; b</h2>\n<h3 id="cell-4-1">Second</h3>\n<h6 id="cell-4-2">Sixth</h6>\n'
    )


def test_headings_get_a_place_only_where_somebody_asks_for_places():
    assert to_html("# One")[0] == "<h2>One</h2>\n"


def test_a_figure_is_linked_by_its_name_and_others_stay_words():
    made, _ = to_html("See @fig-a, @fig-b, a@fig-a and `@fig-a`.", "x", no_picture, Names(words={"fig-a": "Figure 2"}))
    assert made.count('<a href="#fig-a" rel="noopener noreferrer">Figure 2</a>') == 1
    assert "@fig-b, a@fig-a and <code>@fig-a</code>" in made


def test_a_text_that_no_page_can_bear_is_shown_as_it_was_written():
    made, found = to_html("# a\n\n" + "<b>" * 3000, "x")
    assert made.startswith("<pre># a\n\n&lt;b&gt;&lt;b&gt;") and found == []


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("<main><h1>a</h1><h4>b</h4><h6>c</h6><h4>d</h4><h2>e</h2></main>", "1 2 3 2 2"),
        ("<nav><h5>a</h5></nav><main><h1>b</h1><h3>c</h3></main><h6>d</h6>", "5 1 2 6"),
        ("<main><h2>a</h2><h2>b</h2><h3>c</h3></main>", "1 1 2"),
    ],
)
def test_headings_of_the_content_go_down_one_level_at_a_time(page, made):
    """Catches a level that is skipped, and headings outside of the content that are changed with it."""
    changed = without_gaps(page)
    levels = [piece[0] for piece in changed.split("<h")[1:]]
    assert levels == made.split() == [piece[0] for piece in changed.split("</h")[1:]]


def test_a_polished_page_has_no_empty_head_of_a_column():
    """Catches an empty corner that a screen reader says to be a column's name."""
    assert polished('<tr><th align="left"> </th><th>a</th></tr>') == '<tr><td align="left"></td><th>a</th></tr>'


PICTURES = {
    "attachment:a%20b.png": "data:image/png;base64,AAAA",
    "attachment:a (1) b.png": "data:image/png;base64,BBBB",
}


def words(source: str) -> str:
    """The text of what is made of Markdown, its blanks as one."""
    return " ".join(re.sub("<[^>]*>", " ", to_html(source, "x")[0]).split())


@pytest.mark.parametrize(
    "source",
    [
        "a $b\n- c$ d",
        "a\n$$\nR\n=\n\\sum\n$$\nb",
        "\\begin{align}\n[x*\\delta](n) &= 1 \\\\\n- b &= 2\n\\end{align}",
        "> a $b\n> + c$ d",
        "- a $b\n  1. c$ d",
        "<div>\n<b title='$x$'>a</b> $b$\n</div>",
        "| a |\n|---|\n| $|b|$ |",
    ],
)
def test_a_formula_is_one_wherever_it_stands(source):
    """Catches a list, a heading, a link or a table that is read inside of a formula, and HTML that has none."""
    made, _ = to_html(source)
    assert made.count("<math") == 1 and "$" not in re.sub("<[^>]*>", "", made)
    assert not re.search("<li>[+-]|<h[1-6]|<a ", made)


def test_pipes_in_code_part_no_cells_and_rows_have_the_columns_of_their_head():
    """Catches a table that is shown as text for a row too short or too long, in a list too."""
    made, _ = to_html(
        "- item\n  | a | b |\n  |:--|--:|\n  | `x|y` | $|z|$ |\n  | `x\\|y` |\n  | 1 | 2 | 3 |\n\n  after"
    )
    assert made.count("<th") == 3 and made.count("<td") == 6
    assert made.count("<code>x|y</code>") == 2 and made.count("<tr>") == 4 and made.count('align="right"') == 4
    assert "<p>after</p>" in made


@pytest.mark.parametrize(
    "address", ["attachment:a%20b.png", "attachment:a (1) b.png", 'attachment:a (1) b.png "title"']
)
def test_a_picture_with_blanks_in_its_name_is_shown(address):
    made, _ = to_html(f"![w]({address}) b", "", PICTURES.get)
    assert re.search('<img [^>]*src="data:image/png;base64,(AAAA|BBBB)"', made) and made.endswith(" b</p>\n")


def test_a_text_keeps_its_direction():
    made, _ = to_html('<div dir="rtl">\n\n*a*\n\n</div>\n\n<p dir="x" lang="he">b</p>')
    assert '<div dir="rtl">' in made and "<em>a</em>" in made and '<p lang="he">b</p>' in made


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('::: {.callout-note title="Mind"}\na\n\n- b\n:::\nc', "Mind a b c"),
        ("::: {.callout-tip}\n::: inner\na\n:::\nb\n:::\nc", "Tip a b c"),
        ("::: {.callout-tip}\na", "Tip a"),
        ("```{mermaid}\ngraph --> b\n```", "graph --&gt; b"),
        ("a[^1]\n\n[^1]: b\n\n[^2]: c", "a [1] b ↩\ufe0e c ↩\ufe0e"),
        ("# A {#sec-a}\n\nBy @sec-a, @sec-b.", "A By A , @sec-b."),
        ("| a |\n|---|\n| b |\n\n: c {#tbl-a}\n\nBy @tbl-a.", "a b Table 1: c By Table 1 ."),
        ("| a |\n|---|\n| b |\n: c {#tbl-a}", "a b Table 1: c"),
        ("a\\eqref{x} {#b c} {{< d >}}", "a\\eqref{x} {#b c} {{&lt; d &gt;}}"),
    ],
)
def test_what_quarto_adds_is_plain_text(source, said):
    """Catches marks that stay in a text, and a block, a note or a caption that is lost."""
    assert words(source) == said


def test_footnotes_of_two_texts_are_two_places():
    made = to_html("a[^1]\n\n[^1]: b", "cell-1")[0] + to_html("a[^1]\n\n[^1]: b", "cell-2")[0]
    places = re.findall(' id="([^"]*)"', made)
    assert len(places) == len(set(places)) == 4
    assert {f"#{place}" for place in places} == set(re.findall('href="([^"]*)"', made))
