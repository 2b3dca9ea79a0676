"""The site without Quarto, of a small course: what its pages, its lists of contents and its files are made from."""

import base64
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from checker.pages.templates import style
from checker.reading.notebook import Unreadable
from checker.site import builtin
from tests.checker.site.small_course import ADDRESS, FIRST, PAGES, PICTURE, REPOSITORY, SECOND, TEXTS, small_course


@pytest.fixture
def site(tmp_path) -> Path:
    """The folder of the small course's site."""
    built = builtin.build(small_course(tmp_path / "project"), tmp_path / "site")
    assert built == [tmp_path / "site" / page.with_suffix(".html") for page in PAGES]
    return tmp_path / "site"


def shown(site: Path, page: str | Path) -> str:
    return (site / Path(page).with_suffix(".html")).read_text(encoding="utf-8")


def contents(page: str) -> list[tuple[str, str]]:
    """(place, heading) of what a page's list of contents has."""
    (listed,) = re.findall(r'<li class="here">.*?</a>\n(?:<ol>(.*?)</ol>)?', page, re.DOTALL)
    return re.findall(r'<a href="#([^"]+)">(.*?)</a>', listed)


def test_a_page_says_what_its_header_says(site):
    """Catches a title, a line below it, a description or a class that the header has and the page has not."""
    page = shown(site, "index.qmd")
    assert "<h1>Begin here</h1>" in page and '<p class="subtitle">For beginners</p>' in page
    named = re.findall('<meta (.*?) content="All of it.">', page)
    assert named == ['name="description"', 'property="og:description"']
    assert 'class="page course landing"' in page
    assert "<title>The course</title>" in page and "---" not in page.split("<main")[1]
    assert 'class="page course"' in shown(site, "docs/glossary.qmd")
    assert 'content="For all."' in shown(site, "docs/glossary.qmd")


def test_headings_have_places_and_the_first_two_levels_are_listed(site):
    """Catches a list that leads to no heading, and one in which every small heading stands."""
    page = shown(site, "index.qmd")
    assert contents(page) == [("where-to-go", "Where to go"), ("deeper", "Deeper")]
    assert re.findall(r'<h\d id="([\w-]+)"', page)[:3] == ["where-to-go", "deeper", "deepest"]


def test_a_notebooks_list_begins_with_its_goals_and_ends_with_its_questions(site):
    """Catches a list without what stands around the cells, and questions that are listed where there are none."""
    listed = contents(shown(site, SECOND))
    assert listed[0] == ("teaches", "What it teaches") and listed[-1] == ("questions", "Test yourself")
    assert ("section-1", "Cell 1: Plan") in listed
    first = shown(site, FIRST)
    assert contents(first)[-1][0] == "section-8"
    assert '<p class="subtitle">About The first.</p>' in first and "<h1>The first</h1>" in first


def test_links_lead_to_the_finished_pages(site):
    """Catches a link to the source of a page, and one that lost its place on it."""
    page = shown(site, "index.qmd")
    assert '<a href="docs/formulas.html#loss"' in page and '<a href="notebooks/first.html"' in page
    assert '<a href="#eq-loss" rel="noopener noreferrer">Equation 1</a> in <a href="../notebooks/second.html"' in shown(
        site, "docs/formulas.qmd"
    )


def test_every_page_knows_the_way_to_the_search_and_to_all_others(site):
    """Catches addresses that are right from one folder only, and neighbours in another order than the sidebar's."""
    for source in PAGES:
        page = shown(site, source)
        folder = (site / source).parent
        (index,) = re.findall(r'data-index="([^"]+)"', page)
        (root,) = re.findall(r'data-root="([^"]+)"', page)
        assert (folder / index).resolve() == site / "files" / "search.js" and (site / "files" / "search.js").is_file()
        assert (folder / root).resolve() == site and root.endswith("/")
        (listed,) = re.findall(r'<ol class="pages">(.*?)</details>', page, re.DOTALL)
        links = re.findall(r'<a href="([^"#]+)"', listed)
        assert [(folder / unquote(link)).resolve() for link in links] == [site / p.with_suffix(".html") for p in PAGES]
        turn = {rel: (folder / link).resolve() for rel, link in re.findall(r'<a rel="(\w+)" href="([^"]+)"', page)}
        number = PAGES.index(source)
        around = {"prev": PAGES[number - 1] if number else None, "next": (PAGES + [None])[number + 1]}
        assert turn == {rel: site / other.with_suffix(".html") for rel, other in around.items() if other}


def test_a_page_has_the_scripts_of_every_page_and_of_its_pieces(site):
    """Catches a button that does nothing, for its script is not in the page."""
    for name in ("page.js", "enlarge.js", "search.js"):
        assert style(name) in shown(site, "index.qmd"), name
    assert style("watch.js") not in shown(site, "index.qmd")


def test_a_picture_of_the_project_is_in_the_page(site):
    """Catches a name with a blank that is not found, and a page that loads its picture."""
    (address,) = re.findall(r'<img src="([^"]+)" alt="dots"', shown(site, "index.qmd"))
    assert address == "data:image/png;base64," + base64.b64encode(PICTURE).decode()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.png", "png"),
        ("a.JPG", "jpeg"),
        ("a.jpeg", "jpeg"),
        ("a.gif", "gif"),
        ("a.webp", "webp"),
        ("a.svg", "svg+xml"),
    ],
)
def test_a_picture_is_named_by_its_kind(tmp_path, name, kind):
    """Catches a picture that a browser is told is of another kind, which it then does not draw."""
    (tmp_path / name).write_bytes(b"x")
    assert builtin._beside(tmp_path, tmp_path / "docs.qmd")(name) == f"data:image/{kind};base64,eA=="


def test_nothing_but_pictures_of_the_project_comes_into_a_page(tmp_path):
    """Catches a secret beside the project that a page's address reaches, and a file that is no picture."""
    (tmp_path / "project" / "docs").mkdir(parents=True)
    for name in ("outside.png", "project/secret.txt", "project/inside.png"):
        (tmp_path / name).write_bytes(b"x")
    picture = builtin._beside(tmp_path / "project", tmp_path / "project" / "docs" / "a.qmd")
    assert picture("../inside.png") is not None
    assert picture("../../outside.png") is picture("../secret.txt") is picture("../missing.png") is None


def test_a_wrong_address_has_links_from_the_host(site):
    """Catches links that begin at the folder that is not there."""
    page = shown(site, "404.qmd")
    assert re.search('<a href="/course/index.html"[^>]*>the first page</a>', page) and "<h1>Nothing here</h1>" in page
    assert 'data-root="/course/"' in page and 'href="/course/notebooks/first.html"' in page
    assert 'rel="prev"' not in page


def test_a_public_site_has_a_map_and_the_picture_that_is_shown_of_it(site):
    """Catches a map of other pages, and a picture that is not where its address says."""
    listed = re.findall("<loc>(.*?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert listed == [f"{ADDRESS}/{page.with_suffix('.html').as_posix()}" for page in PAGES]
    assert (site / "docs" / "shown" / "a.png").read_bytes() == PICTURE
    page = shown(site, "index.qmd")
    assert f'content="{ADDRESS}/docs/shown/a.png"' in page and f'href="{REPOSITORY}"' in page
    assert all(f'href="{REPOSITORY}/{action}/main/index.qmd"' in page for action in ("blob", "edit"))


def test_a_site_that_is_public_nowhere_has_no_map(tmp_path):
    """Catches a map without addresses, and a picture that is copied for nobody."""
    builtin.build(small_course(tmp_path / "project", public=False), tmp_path / "site")
    assert not (tmp_path / "site" / "sitemap.xml").exists() and not (tmp_path / "site" / "docs" / "shown").exists()


def test_the_picture_of_a_site_is_put_where_another_one_lay(tmp_path):
    """Catches a second `make site` that ends at a folder which is there, and one that leaves the old picture."""
    project = small_course(tmp_path / "project")
    for content in (b"old", b"new"):
        (project / "docs" / "shown" / "a.png").write_bytes(content)
        builtin._copy_picture(project, tmp_path / "site", builtin.website(project))
    assert (tmp_path / "site" / "docs" / "shown" / "a.png").read_bytes() == b"new"


def test_a_page_that_is_missing_is_named(tmp_path):
    """Catches a traceback for a page that the sidebar lists and nobody wrote."""
    project = small_course(tmp_path / "project")
    (project / "index.qmd").unlink()
    with pytest.raises(Unreadable, match="index.qmd of _quarto.yml"):
        builtin.build(project, tmp_path / "site")


@pytest.mark.parametrize(
    ("text", "header"),
    [("---\ntitle: A\n---\nBelow", {"title": "A"}), ("---\nonly words\n---\nBelow", {}), ("Below", {})],
)
def test_a_header_is_parted_from_the_text_below_it(text, header):
    """Catches a header that stays in the text, and one that is no list of settings."""
    assert builtin._header(text) == (header, "Below")


def test_a_page_without_a_header_has_its_files_name(tmp_path):
    """Catches a page that cannot be shown for lack of a header, and "None" where nothing was said."""
    (tmp_path / "plain.qmd").write_text("Text.\n", encoding="utf-8")
    page = builtin._page(tmp_path, Path("plain.qmd"), [])
    assert (page.title, page.subtitle, page.description, page.classes, page.pieces) == ("plain", "", "", "", [])
    assert (page.source, page.contents, page.html.strip()) == (Path("plain.qmd"), [], "<p>Text.</p>")


def test_the_landing_page_has_its_piece(site):
    """Catches a mark that stays on the page, and what was written for readers of the source."""
    page = shown(site, "index.qmd")
    assert '<ol class="gallery">' in page and "[[gallery]]" not in page and "Here they stand" not in page
    assert "Here they stand" in TEXTS["index.qmd"] and "dots counted right" in unescape(page).lower()
