"""The settings of a site: its pages in order, what they are called, and the public addresses of each."""

from pathlib import Path

import pytest

from checker.reading.notebook import Unreadable
from checker.reading.website import Website, website

SIDEBAR = """  sidebar:
    contents:
      - index.qmd
      - section: Grundlagen für alle
        contents:
          - notebooks/dots.ipynb
          - href: notebooks/countdown.ipynb
            text: Countdown
          - section: Further
            contents: [docs/cluster.qmd]
          - contents: [docs/more.qmd]
      - href: references.qmd
"""
SET = """website:
  title: Tiny
  description: A course
  site-url: https://name.github.io/tiny/
  repo-url: https://github.com/name/tiny/
  repo-branch: course
  image: /X/picture.png
"""


@pytest.fixture
def site(tmp_path):
    """The site of these settings."""

    def make(text: str) -> Website:
        (tmp_path / "_quarto.yml").write_text(text, encoding="utf-8")
        return website(tmp_path)

    return make


def test_the_pages_come_in_reading_order_with_their_sections(site):
    """Catches a page that no list of the site has, or under another's heading."""
    found = site(SET + SIDEBAR)
    assert list(map(str, found.pages)) == [
        "index.qmd",
        "notebooks/dots.ipynb",
        "notebooks/countdown.ipynb",
        "docs/cluster.qmd",
        "docs/more.qmd",
        "references.qmd",
    ]
    assert {str(page): section for page, section in found.sections.items()} == {
        "notebooks/dots.ipynb": "Grundlagen für alle",
        "notebooks/countdown.ipynb": "Grundlagen für alle",
        "docs/cluster.qmd": "Further",
        "docs/more.qmd": "Grundlagen für alle",
    }
    assert found.short == {Path("notebooks/countdown.ipynb"): "Countdown"}
    assert found.notebooks == [Path("notebooks/dots.ipynb"), Path("notebooks/countdown.ipynb")]


def test_a_public_site_has_addresses(site):
    """Catches a link with two slashes or to another branch, and a button that opens nothing."""
    found = site(SET + SIDEBAR)
    assert (found.title, found.description, found.picture) == ("Tiny", "A course", "X/picture.png")
    page = found.notebooks[0]
    assert found.source(page) == "https://github.com/name/tiny/blob/course/notebooks/dots.ipynb"
    assert found.source(page, "edit") == "https://github.com/name/tiny/edit/course/notebooks/dots.ipynb"
    assert found.questions(page) == "https://name.github.io/tiny/notebooks/dots.html#questions"
    place = "name/tiny/blob/gh-pages/notebooks/dots.ipynb"
    assert found.elsewhere(page) == {
        "Colab": f"https://colab.research.google.com/github/{place}",
        "Kaggle": f"https://www.kaggle.com/kernels/welcome?src=https://github.com/{place}",
        "Codespaces": "https://codespaces.new/name/tiny",
    }


@pytest.mark.parametrize("text", ["website:\n  title: Tiny\n", "website:\n  title: Tiny\n  site-url:\n  repo-url:\n"])
def test_a_site_that_is_not_public_links_to_nothing(site, text):
    """Catches a link to "None/blob/main"."""
    found = site(text + SIDEBAR)
    assert (found.address, found.repository, found.description, found.picture) == ("", "", "", "")
    page = found.notebooks[0]
    assert [found.source(page), found.questions(page), found.elsewhere(page)] == ["", "", {}]


def test_a_source_elsewhere_than_on_github_has_no_link_to_colab(site):
    found = site("website:\n  title: Tiny\n  repo-url: https://gitlab.com/name/tiny\n" + SIDEBAR)
    assert found.elsewhere(Path("a.ipynb")) == {}
    assert found.source(Path("a.ipynb")) == "https://gitlab.com/name/tiny/blob/main/a.ipynb"


def test_a_site_can_be_made_of_its_pages_alone():
    """Catches settings of one site that another one gets."""
    one, other = Website("Tiny", "", [Path("a.ipynb")]), Website("Other", "", [])
    one.sections[Path("a.ipynb")] = one.short[Path("a.ipynb")] = "A"
    assert (other.sections, other.short, one.elsewhere(Path("a.ipynb"))) == ({}, {}, {})
    assert (one.address, one.repository, one.picture) == ("", "", "")


def test_settings_without_pages_are_refused_with_what_to_do(site, tmp_path):
    """Catches an empty site that is made without a word."""
    with pytest.raises(Unreadable, match=r"no _quarto.yml here.*the course's folder"):
        website(tmp_path)
    for text in ("website:\n  title: Tiny\n", "a: [", "website: 3", SIDEBAR.replace("  sidebar", "sidebar")):
        with pytest.raises(Unreadable, match="_quarto.yml does not list the pages"):
            site(text)
