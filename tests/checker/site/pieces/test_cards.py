"""The gallery: the cards of a course's notebooks, with what its records say that they reach."""

import re

from checker.pages.templates import style
from checker.site.pieces import cards
from checker.site.pieces.thumbnails import PNG
from tests.checker.site.small_course import PAGES, small_course


def test_the_gallery_has_a_card_of_each_notebook(tmp_path):
    """Catches a card with another's title or link, pages among the cards, and names of files in place of titles."""
    project = small_course(tmp_path / "project")
    html = cards.gallery(project, PAGES)
    links = re.findall(r'<h3><a href="([^"]+)">(.*?)</a></h3>', html)
    assert links == [("notebooks/first.html", "1. The first"), ("notebooks/second.html", "2. The second")]
    assert "<span>after The first, elsewhere</span>" in html and html.count("<li>to count</li>") == 2
    assert html.count(f'<img src="{PNG}') == 1 and style("gallery.css") in html
    (measured,) = re.findall(r'<p class="measured">(.*?)</p>', html)
    assert measured == "Dots counted right, on held-out data: <b>0.25</b> before, <b>0.97</b> after"


def test_what_a_card_says_in_small_letters_is_parted(tmp_path):
    """Catches "to runfirst steps": so a search finds it, and so it is read aloud, where the style shows a gap."""
    text = re.sub("<[^>]*>", "", cards.gallery(small_course(tmp_path / "project"), PAGES))
    assert re.search(r"3 minutes to run\s+first steps\s+after The first", text)
