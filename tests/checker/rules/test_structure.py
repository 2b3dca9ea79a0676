"""The rules on the nine cells: what they say, and where."""

import pytest

from tests.checker.conftest import HEADER, code, markdown


def test_a_notebook_without_cells_is_told_as_a_whole(good, told):
    """Catches a rule that asks for the first of no cells, and a place in a file that has none."""
    good["cells"] = []
    (finding,) = told("S001")
    assert (finding.cell, finding.place) == (None, "") and "no cells" in finding.found
    assert not told("S002") and finding.advice == "Hand in the notebook that you filled."


@pytest.mark.parametrize("place", [1, 2, 8])
def test_a_header_that_stands_further_down_is_pointed_at(good, told, place):
    """Catches "there is no header" of a notebook that has one, and a second one told in the place of the first."""
    header = good["cells"].pop(0)
    good["cells"][place:place] = [header, dict(header)]
    (finding,) = told("S001")
    assert finding.cell == place and "stands here" in finding.found and "very beginning" in finding.advice


def test_a_header_that_is_missing_is_shown_as_it_should_be(good, told):
    """Catches advice that shows the header in one line, where it is no YAML."""
    del good["cells"][0]
    (finding,) = told("S001")
    assert finding.cell == 0 and "no YAML header" in finding.found
    assert finding.advice.endswith(HEADER) and finding.advice.startswith("Make the first cell")


HEADERS = [
    (f"{HEADER}\n\n# Counting dots", ["more than the header"]),
    (HEADER.replace("python3\n---", "python3\n...\nMore"), ["more than the header"]),
    (HEADER.replace("python3\n---", "python3\n---  \nMore"), ["more than the header"]),
    (HEADER.removesuffix("\n---"), ["not closed by a line ---"]),
    (HEADER.replace("jupyter:", f"title: {'x' * 4_940}\njupyter:"), []),
    (HEADER.replace("jupyter:", f"title: {'x' * 5_000}\njupyter:"), ["the header has 5,060 characters"]),
    ("---\nformat: [html\njupyter: python3\n---", ["not valid YAML (line 3 of the cell)"]),
    ("---\n- format\n- jupyter\n---", ["not a list of `key: value` lines"]),
    ("---\nformat: html\ncode-fold: true\njupyter: python3\n---", ["lost its indentation"]),
    ("---\nformat:\nhtml:\njupyter: python3\n---", ["lost its indentation"]),
    ("---\nformat: html\njupyter: python3\n---", ["does not set `code-fold`"]),
    ("---\nformat:\n  html: default\njupyter: python3\n---", ["does not set `code-fold`"]),
    ("---\nformat:\n  html:\n    toc: true\njupyter: python3\n---", ["does not set `code-fold`"]),
    ("---\ntitle: Dots\njupyter: python3\n---", ["does not set `code-fold`"]),
    ("---\nformat: html\n---", ["does not set `code-fold`", "does not name the kernel"]),
    ("---\nformat:\n  html:\n    code-fold: true\n---", ["does not name the kernel"]),
    (HEADER.replace("python3\n---", "python3\n..."), []),
    (HEADER.replace("---\nformat", "--- \t\nformat") + " \t", []),
    (f"\n\n{HEADER}\n", []),
    ("---\n---", ["not a list of `key: value` lines"]),
]


@pytest.mark.parametrize(("source", "expected"), HEADERS)
def test_each_fault_of_a_header_is_called_by_its_name(good, told, source, expected):
    """Catches a header that is said to lack a key, where what is wrong is how it is written."""
    good["cells"][0]["source"] = source
    findings = told("S002")
    assert len(findings) == len(expected) and all(finding.cell == 0 for finding in findings)
    assert all(words in finding.found for words, finding in zip(expected, findings, strict=True))


@pytest.mark.parametrize("number", range(len(HEADERS)))
def test_what_to_do_about_a_header_shows_one_that_is_right(good, told, number):
    """Catches advice on a header without the lines that are to be written."""
    good["cells"][0]["source"] = HEADERS[number][0]
    for finding in told("S002"):
        shown = finding.advice.endswith(f"\n{HEADER}")
        assert shown or "`jupyter: python3`" in finding.advice or "alone, between two lines of ---" in finding.advice


def test_what_is_no_header_is_no_wrong_header(good, told):
    """Catches a first cell of plain text that is told twice."""
    good["cells"][0]["source"] = "# Counting dots"
    assert told("S002") == []
    good["cells"] = []
    assert told("S002") == []


def test_one_missing_section_is_named_with_what_it_holds(good, told):
    """Catches a number alone, of which nobody knows what belongs there."""
    good["cells"][4]["source"] = "print(cases)"
    (finding,) = told("S003")
    assert (finding.cell, finding.found) == (None, "Cell 4 (reward function) is missing")
    assert "Begin it with" in finding.advice and "`# Cell 4: ...` as a comment" in finding.advice


def test_missing_sections_are_named_together(good, told):
    """Catches "is missing" of two, and a comment as the label of what is text."""
    good["cells"][1]["source"], good["cells"][8]["source"] = "Count.", "It rose."
    (finding,) = told("S003")
    assert finding.found == "Cell 1 (task definition and plan), Cell 8 (analysis) are missing"
    assert "Begin each with" in finding.advice and "`# Cell 1: ...` as a heading" in finding.advice


def test_the_header_is_no_section_that_is_missing(good, told):
    """Catches a header that is told as missing by two rules."""
    del good["cells"][0]
    assert told("S003") == []


def test_a_section_out_of_order_is_sent_to_its_place(good, told):
    """Catches "comes after" told of the wrong one of two, and a place that is the cell's own."""
    good["cells"].insert(2, good["cells"].pop(6))
    findings = told("S004")
    assert [finding.cell for finding in findings] == [3, 4, 5, 6]
    assert findings[0].found == "Cell 2 comes after Cell 6"
    assert findings[0].advice == "Move it before Cell 6: Training loop."


def test_a_section_may_be_left_out_and_the_order_still_holds(good, told):
    """Catches an order that begins at the wrong number, and one that asks for every number."""
    del good["cells"][3], good["cells"][1]
    assert told("S004") == []


def test_a_second_label_is_a_second_section(good, told):
    good["cells"].insert(5, code("# Cell 4: More rewards", "x", 3))
    (finding,) = told("S004")
    assert (finding.cell, finding.found) == (5, "there is a second Cell 4") and "Label each part once" in finding.advice


def test_a_section_beyond_the_last_is_told_and_counts_for_no_order(good, told):
    """Catches every cell below a "Cell 9" told as out of order."""
    good["cells"].insert(3, markdown("# Cell 9: More"))
    (finding,) = told("S004")
    assert (finding.cell, finding.found) == (3, "there is a Cell 9") and "Cell 0 to Cell 8" in finding.advice


def test_a_header_below_is_no_label(good, told):
    """Catches lines of --- in the middle of a notebook taken for a second Cell 0."""
    good["cells"].insert(4, markdown("---\nA line above."))
    assert told("S004") == []


def test_a_label_cell_0_that_stands_below_is_out_of_order(good, told):
    good["cells"].insert(4, markdown("# Cell 0: Header"))
    (finding,) = told("S004")
    assert finding.found == "Cell 0 comes after Cell 3"


@pytest.mark.parametrize(
    ("number", "cell", "found", "key"),
    [
        (1, code("# Cell 1: Plan", count=None), "Cell 1 is a code cell", "M"),
        (8, code("# Cell 8: Analysis", count=None), "Cell 8 is a code cell", "M"),
        (2, markdown("# Cell 2: Model"), "Cell 2 is a markdown cell", "Y"),
    ],
)
def test_a_cell_of_the_wrong_kind_is_told_with_the_key_that_changes_it(good, told, number, cell, found, key):
    """Catches the one key in the place of the other, and the first or the last cell passed over."""
    good["cells"][number] = cell
    (finding,) = told("S005")
    assert (finding.cell, finding.found) == (number, found) and f"{key} in command mode" in finding.advice
    assert f"Make it a {'markdown' if key == 'M' else 'code'} cell" in finding.advice


def test_a_further_cell_may_be_of_either_kind(good, told):
    """Catches text between the cells told as a cell of the wrong kind, and the cells below it passed over."""
    good["cells"][2:2] = [markdown("Some words."), markdown("# Cell 9: More")]
    assert told("S005") == []
    good["cells"].append(markdown("# Cell 6: Training again"))
    assert [finding.found for finding in told("S005")] == ["Cell 6 is a markdown cell"]


def test_a_claim_that_is_none_is_quoted_and_the_known_ones_are_named(good, told):
    """Catches a typing error in the header that is taken for a claim, without the words that are."""
    good["cells"][0]["source"] = HEADER.replace("jupyter:", f"course:\n  claim: measure{'s' * 60}\njupyter:")
    (finding,) = told("S006")
    assert finding.cell == 0 and finding.found.startswith("the header claims 'measuresss") and len(finding.found) < 60
    assert "learns or measures" in finding.advice
