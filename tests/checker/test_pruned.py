"""Style sheets of Quarto's site without what no page of it uses."""

import pytest

from checker.pages.pruned import prune, pruned

USED = {"cell", "cell-output", "toc", "bi-", "search"}


@pytest.mark.parametrize(
    "rule",
    [
        "body {color:red}",
        ".cell {color:red}",
        "div.cell-output > pre, .carousel {color:red}",
        "#toc a:hover {color:red}",
        ".cell:not(.carousel) {color:red}",
        "[data-bs-theme=dark] {color:red}",
        '.bi-search::before {content:"x"}',
        "@media (min-width: 9px) {.cell{color:red}}",
        "@media print {@supports (display: grid) {#toc{color:red}}}",
        "@font-face {src:url(x.woff)}",
        "@keyframes spinner {to{transform:rotate(360deg)}}",
        "/*! Copyright of somebody */",
    ],
)
def test_what_a_page_can_use_stays(rule):
    """Catches a rule lost for a selector beside it, for what it excludes, or for a name that a script puts together."""
    assert "".join(pruned(rule, USED).split()) == "".join(rule.split())


@pytest.mark.parametrize(
    "rule",
    [
        ".carousel {color:red}",
        ".cell .carousel {color:red}",
        ".cell.carousel, #modal {color:red}",
        '.bi-airplane::before {content:"x"}',
        "@media print {.carousel{color:red}}",
    ],
)
def test_what_no_page_can_use_goes(rule):
    """Catches a rule kept for one of the names that it asks for together."""
    assert pruned(rule, USED) == ""


def test_names_are_taken_from_pages_and_from_scripts(tmp_path):
    """Catches a class of another page, of an inline script or of a library that counts as unused."""
    libraries = tmp_path / "site_libs"
    libraries.mkdir()
    (libraries / "a.js").write_text("open.classList.add('by-library')", encoding="utf-8")
    (tmp_path / "index.html").write_text('<p class="one two">unused</p>', encoding="utf-8")
    further = tmp_path / "docs" / "further.html"
    further.parent.mkdir()
    further.write_text("<i id='here'></i><script>add('inline')</script>", encoding="utf-8")
    rules = [f".{name}{{color:red}}" for name in ("by-library", "one", "two", "inline", "unused")]
    sheet = libraries / "a.css"
    sheet.write_text("".join([*rules, "#here{color:red}"]), encoding="utf-8")
    prune(tmp_path)
    left = sheet.read_text(encoding="utf-8")
    assert all(name in left for name in (".by-library", ".one", ".two", ".inline", "#here"))
    assert ".unused" not in left


def test_a_site_without_quarto_has_nothing_to_prune(tmp_path):
    prune(tmp_path)
    assert list(tmp_path.iterdir()) == []
