"""The rules on what would break a page: fences, formulas, settings in the text, files that are not there."""

import pytest

from checker.checking.check import check
from checker.reading.prose.parser import read
from checker.reading.prose.tex import Names
from checker.rules.rendering import _outside_fences
from tests.checker.conftest import HEADER, markdown


@pytest.mark.parametrize(
    ("lines", "outside", "opened"),
    [
        ("a\n```\nx\n```\nb", ["a", "b"], None),
        ("a\n   ~~~~ python\n```\nx\n~~~\n~~~~~  \nb", ["a", "b"], None),
        ("    ```\nb", ["    ```", "b"], None),  # indented by four blanks it is code, and no fence
        ("```a`b\nc", ["```a`b", "c"], None),  # code in the line
        ("~~~a`b\nc", [], 1),
        ("a\n```\nx\n``\n~~~\n```python\nb", ["a"], 2),
        ("```\nx\n```\n\n```\ny", [], 5),
        ("- a\n  ```\n  x\n  ```\n\n> ~~~\n> y\n> ~~~", ["- a"], None),
        ("- ```\n  x\n\nb", ["b"], 1),
        ("```", [], 1),
    ],
)
def test_what_stands_outside_of_fences_is_read(lines, outside, opened):
    """Catches a fence that is closed by another kind, a shorter or a named one, or with its list, and text taken for code."""
    kept, line = _outside_fences(lines, read(lines, Names()).tokens)
    assert ([one for one in kept.split("\n") if one], line) == (outside, opened)


def test_an_open_fence_is_told_with_its_line(good, told):
    good["cells"][1]["source"] += "\n\n```\nx\n```\n\n```python\ny = 1"
    (finding,) = told("R001")
    assert finding.cell == 1 and "fence of line 8 is not closed" in finding.found and "closing line" in finding.advice


@pytest.mark.parametrize(
    ("text", "opening", "closing"),
    [
        ("$$ x = 1", "$$", "$$"),
        ("$$ x $$ and $$ y", "$$", "$$"),
        (r"\[ x", r"\[", r"\]"),
        (r"x \]", r"\[", r"\]"),
        (r"so \( x", r"\(", r"\)"),
        (r"x \) so", r"\(", r"\)"),
        (r"\begin{aligned} x", r"\begin{", r"\end{"),
        (r"\begin{a} \begin{b} x \end{b}", r"\begin{", r"\end{"),
        (r"`code` $$ x `$$`", "$$", "$$"),
    ],
)
def test_a_formula_that_is_not_closed_is_told_with_what_closes_it(good, told, text, opening, closing):
    """Catches one of four ways to write a formula that is not known, and one whose end is told as its beginning."""
    good["cells"][1]["source"] += f"\n\n{text}"
    (finding,) = told("R002")
    assert finding.cell == 1 and f"opened by {opening} and not closed" in finding.found
    assert finding.advice == f"Close it with {closing}."


@pytest.mark.parametrize(
    "text",
    [
        "$$ x $$ and $$ y $$",
        r"\[ x \] \( y \) \begin{a} z \end{a}",
        r"costs \$\$ and \$$x$",
        "`$$`, ``a ` $$`` and\n`\\[\n x`",
        "```\n$$\n\\[\n```",
    ],
)
def test_a_formula_that_is_closed_or_is_code_is_none(good, told, text):
    """Catches a price, and code that speaks of formulas, taken for one."""
    good["cells"][1]["source"] += f"\n\n{text}"
    assert told("R002") == []


def test_each_open_formula_of_a_cell_is_told(good, told):
    good["cells"][1]["source"] += "\n\n$$ x\n\n\\[ y"
    assert [finding.advice for finding in told("R002")] == ["Close it with $$.", r"Close it with \]."]


@pytest.mark.parametrize(
    ("source", "is_read_as_settings"),
    [
        ("---\ntitle: Analysis\n---", True),
        ("\n--- \n  my-key: 3\n- a\nmore\n---\nText", True),
        ("---\ntitle: x\n\n---", False),
        ("---\nOnly words\n---", False),
        ("Text\n\n---\ntitle: x\n---", False),
        ("---\n\nTwo parts: a and b\n\n---", False),
    ],
)
def test_settings_in_the_text_are_told(good, told, source, is_read_as_settings):
    """Catches a line between two paragraphs told as YAML."""
    good["cells"].insert(2, markdown(source))
    findings = told("R003")
    assert [finding.cell for finding in findings] == [2] * is_read_as_settings
    assert all("read as YAML" in finding.found and "Cell 0" in finding.advice for finding in findings)


def test_the_header_itself_is_no_settings_in_the_text(good, told):
    assert told("R003") == []
    good["cells"][0]["source"] = f"\n{HEADER}"
    assert told("R003") == []
    good["cells"].insert(0, markdown("First."))
    assert [finding.cell for finding in told("R003")] == [1]


@pytest.mark.parametrize(
    "target",
    ["file:///x.png", r"C:\x.png", "d:/x.png", "/x.png", "~/x.png", r"\\server\x.png"],
)
@pytest.mark.parametrize("mark", ["", "!"])
def test_a_file_of_ones_own_disk_is_told(good, told, mark, target):
    """Catches one system's way to name a file that is not known, and links told of pictures only."""
    good["cells"][1]["source"] += f"\n\n{mark}[curve]({target})"
    (finding,) = told("R004")
    assert (
        finding.cell == 1 and finding.found == f"a link to a local file: {target}" and "web address" in finding.advice
    )


@pytest.mark.parametrize(
    "text",
    [
        "![a](https://x.org/a.png) ![b](//x.org/b.png) ![c](#c) ![d](attachment:d.png) ![e](data:image/png;base64,AA)",
        "[other notebook](other.ipynb) [below](#cell-8)",
        "`![a](missing.png)`",
        "```\n![a](/missing.png)\n```",
    ],
)
def test_a_web_address_is_no_file(good, told, text):
    good["cells"][1]["source"] += f"\n\n{text}"
    assert told("R004") == []


def test_a_picture_that_lies_beside_the_notebook_is_there(good, save):
    """Catches a picture that was handed in and is told as missing, and one in a folder that is not there."""
    good["cells"][1]["source"] += '\n\n![a](a.png) and ![b]( <b.png> "B") and ![folder](c)'
    path = save(good)
    for name in ("a.png", "b.png"):
        (path.parent / name).write_bytes(b"")
    (path.parent / "c").mkdir()
    (finding,) = check(path).findings
    assert finding.found == "the image c is not there" and "beside the notebook" in finding.advice
    assert check(path, beside=False).findings == ()


def test_a_long_target_is_cut_where_it_is_quoted(good, told):
    good["cells"][1]["source"] += f"\n\n![a]({'x' * 100}.png) [b](/{'y' * 100})"
    assert [finding.found for finding in told("R004")] == [
        f"the image {'x' * 60} is not there",
        f"a link to a local file: /{'y' * 59}",
    ]


@pytest.mark.parametrize("value", ["true", "yes", "on", "True", "YES"])
def test_a_header_that_asks_for_a_run_is_told(good, told, value):
    good["cells"][0]["source"] = HEADER.replace("jupyter:", f"execute:\n  enabled: {value}\njupyter:")
    (finding,) = told("R005")
    assert finding.cell == 0 and "asks Quarto to run" in finding.found and "two lines" in finding.advice


@pytest.mark.parametrize(
    "lines", ["execute:\n  enabled: false", "execute: true", "execute:\n  echo: true", "enabled: true"]
)
def test_a_header_that_asks_for_none_is_right(good, told, lines):
    good["cells"][0]["source"] = HEADER.replace("jupyter:", f"{lines}\njupyter:")
    assert told("R005") == []


def test_what_the_page_shows_otherwise_is_told_with_its_cell(good, told):
    """Catches a remark that is told of another cell, or one on plain words that counts as a mistake."""
    good["cells"][1]["source"] += "\n\n$\\mymacro$\n\n::: {.callout-note}\nx\n:::"
    (lost,), (plain,) = told("R006"), told("R007")
    assert (lost.cell, lost.level, plain.cell, plain.level) == (1, "warning", 1, "note")
    assert "the command \\mymacro" in lost.found and "callout-note" in plain.found
