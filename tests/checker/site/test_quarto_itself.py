"""The real Quarto on the project itself, where it is installed: what the stand-in of `test_quarto.py` cannot show."""

import gzip
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from checker.pages import builtin, quarto
from checker.pages.rendering import render
from checker.reading.notebook import read
from checker.reading.website import website
from checker.site import builtin as builtin_site
from checker.site.equations import by_notebook
from tests.checker.browser import CHROMIUM, DRIVER, browser
from tests.checker.conftest import code, markdown
from tests.checker.looking import (
    AXE,
    HEAVIEST,
    LISTED,
    LOOKS,
    PROJECT,
    SECTIONS,
    assert_fits,
    assert_nobody_is_left_out,
    assert_outputs_fit_a_phone,
    assert_paper_can_be_read,
    served,
)
from tests.checker.pages.test_quarto import DANGEROUS
from tests.checker.pages.test_rendering import listed
from tests.checker.site.test_site import LONGEST_IN_SIDEBAR, Elements, assert_no_link_is_dead

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(quarto.program() is None, reason="no Quarto is installed"),
]


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def status(project: Path) -> str:
    return git(project, "status", "--porcelain")


def cloned(folder: Path) -> Path:
    """The project as it is now, changed and new files too, in a clone."""
    project = folder / "project"
    git(folder, "clone", "-q", str(PROJECT), str(project))
    for name in git(PROJECT, "ls-files", "--modified", "--others", "--exclude-standard").splitlines():
        if (PROJECT / name).is_file():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, project / name)
    git(project, "add", "-A")
    return project


ADDRESS = "https://example.org/course"
REPOSITORY = "https://github.com/owner/name"


def made_public(project: Path) -> None:
    """Set the lines of `_quarto.yml` that say where the course is public, as a comment there shows them."""
    settings = project / "_quarto.yml"
    text = settings.read_text(encoding="utf-8")
    lines = (f"site-url: {ADDRESS}", f"repo-url: {REPOSITORY}", "repo-actions: [source, edit]")
    for line in lines:
        assert f"  # {line}\n" in text, line
        text = text.replace(f"  # {line}\n", f"  {line}\n")
    settings.write_text(text, encoding="utf-8")
    git(project, "add", "-A")


def worked() -> float:
    """Seconds of work, on however many cores, of all programs that were started here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[list[Path], float]:
    """The pages of the site, with a public address, that `checker site` makes by Quarto, and the seconds it worked."""
    project = cloned(tmp_path_factory.mktemp("quarto"))
    made_public(project)
    before = status(project)
    begun = worked()
    subprocess.run([sys.executable, "-m", "checker", "site"], cwd=project, check=True, capture_output=True)
    taken = worked() - begun
    assert status(project) == before, "checker site changed a tracked file"
    made = [project / "_site" / source.with_suffix(".html") for source in website(project).pages]
    nowhere = project / "_site" / builtin_site.NOWHERE.with_suffix(".html")
    assert sorted([*made, nowhere]) == sorted((project / "_site").rglob("*.html"))
    return made, taken


@pytest.fixture(scope="module")
def pages(built) -> list[Path]:
    """All pages that the sidebar of the site lists."""
    return built[0]


def test_the_site_is_built_in_less_than_a_minute_of_work(built):
    """Catches a page that is rendered once for each of the others. Other programs on the machine do not count."""
    assert built[1] < 60


@contextmanager
def on_a_server(pages: list[Path]) -> Iterator[list[tuple[Path, str, str]]]:
    """(page, the site's address, the page's) of each page; scripts of Quarto's need a server."""
    site = pages[0].parent
    with served(site) as address:
        yield [(page, address, f"{address}/{page.relative_to(site).as_posix()}") for page in pages]


SECTION = re.compile(
    r'<section\b(?=[^>]*\bclass="level2)[^>]*\bid="([^"]+)"[^>]*>\s*<h2\b[^>]*>(.*?)</h2>', re.DOTALL
)  # what Quarto's search takes for one


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A running browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    if DRIVER is None:
        pytest.skip("no chromedriver is installed")
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


def test_rendering_leaves_the_repository_clean(tmp_path):
    """Catches a line that Quarto adds to .gitignore, pages beside their sources, and notebooks that it rewrites."""
    project = cloned(tmp_path)
    before = status(project)
    for page in ("docs/start.qmd", "notebooks/dots.ipynb"):
        subprocess.run([quarto.program(), "render", page], cwd=project, check=True, env=os.environ, capture_output=True)
    assert status(project) == before
    assert (project / "_site" / "notebooks" / "dots.html").is_file()


def sent(folder: Path, asked: list[str]) -> int:
    """The bytes of the files of a served folder that a page asked for, as servers send them: each once, compressed."""
    paths = {unquote(urlsplit(address).path).lstrip("/") for address in asked}
    return sum(len(gzip.compress((folder / path).read_bytes())) for path in paths)


def test_every_page_of_the_site_fits_is_light_and_asks_for_nothing(shown, pages):
    """Catches pictures and styles that make a page heavy, a script from elsewhere, cells that the contents do not list."""
    site = pages[0].parent
    with on_a_server(pages) as places:
        for page, address, url in places:
            for width, dark in LOOKS:
                asked = assert_fits(shown, url, width, dark)
                assert all(one.startswith(address) for one in asked), asked
                assert sent(site, asked) < HEAVIEST, (page, sent(site, asked))
            if page.parent.name == "notebooks":
                assert shown.run(LISTED) == [[section, 1] for section in SECTIONS], page


def test_outputs_of_notebooks_fit_a_phone(shown, pages):
    """Catches Quarto's larger letters, with which a table that fits the built-in page is cut."""
    with on_a_server(pages) as places:
        for page, _, url in places:
            if page.parent.name == "notebooks":
                assert_outputs_fit_a_phone(shown, url)


def test_nobody_is_left_out_of_the_site(shown, pages):
    """Catches what Quarto's pages leave without a name, and colours of its themes that are too pale."""
    if not AXE.is_file():
        pytest.skip(f"axe-core is not at {AXE}: npm install axe-core@4, or name its axe.min.js in AXE")
    with on_a_server(pages) as places:
        for _, _, url in places:
            for width, dark in LOOKS:
                assert_nobody_is_left_out(shown, url, width, dark)


def test_all_code_of_a_page_opens_at_once_and_stands_on_paper(shown, pages):
    """Catches exercises that are folded, folds without a way to open them all, and pale words on white paper."""
    folds = "return [...document.querySelectorAll('.cell details.code-fold')].map((fold) => fold.open);"
    height = "return document.querySelector('div.sourceCode').getBoundingClientRect().height;"
    with on_a_server(pages) as places:
        (url,) = [url for page, _, url in places if page.name == "dots.html"]
        shown.show(url)
        told = builtin.body(read(PROJECT / "notebooks" / "dots.ipynb")).html
        opened = [" open" in fold for fold in re.findall(r'<section class="code"><details([^>]*)>', told)]
        assert any(opened) and shown.run(folds) == opened
        shown.run("document.querySelector('#quarto-show-all-code').click();")
        assert all(shown.run(folds))
        shown.show(url, media="print")
        assert shown.run(height) > 20
        assert_paper_can_be_read(shown, url)


def test_a_page_stands_in_the_middle_of_a_wide_screen(shown, pages):
    """Catches a page that is packed to the left, and a list of contents as wide as a word at 768 pixels."""
    edges = """
const edge = (one) => document.querySelector(one).getBoundingClientRect();
return [edge("#quarto-sidebar").left, innerWidth - edge("#quarto-margin-sidebar").right];
"""
    with on_a_server(pages) as places:
        (url,) = [url for page, _, url in places if page.name == "dots.html"]
        shown.show(url, width=1920)
        left, right = shown.run(edges)
        assert left > 200 and abs(left - right) < 50
        shown.show(url, width=768)
        assert shown.run("return document.querySelector('main').clientWidth;") > 700


@pytest.mark.parametrize("width", [390, 768])
def test_contents_fold_above_the_page_where_there_is_no_room_beside_it(shown, pages, width):
    """Catches a phone without a list of contents, a drawer and a bar that cut titles."""
    listed = "return [...document.querySelectorAll('#TOC > ul a')].filter((link) => link.checkVisibility()).length;"
    fits = """
const title = document.querySelector(".quarto-secondary-nav .breadcrumb-item:last-child");
return title.scrollWidth <= title.clientWidth + 1;
"""
    cut = """
document.querySelector(".quarto-btn-toggle").click();
return new Promise((done) => setTimeout(() => done([...document.querySelectorAll("#quarto-sidebar .menu-text")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth || !one.checkVisibility())
  .map((one) => one.textContent)), 1000));
"""
    with on_a_server(pages) as places:
        (url,) = [url for page, _, url in places if page.name == "dots.html"]
        shown.show(url, width=width)
        assert shown.run(listed) == 0
        shown.run("document.querySelector('#toc-title button').click();")
        assert shown.run(listed) == len(SECTIONS)
        assert shown.run(fits) and shown.run(cut) == []


def test_a_picture_opens_at_its_own_size(shown, pages):
    """Catches a figure that a phone shows smaller than it is, and no larger."""
    script = """
const small = [...document.querySelectorAll("main figure img")].find((one) => one.naturalWidth > 1.2 * one.clientWidth);
small.click();
const sizes = [document.querySelector("dialog.whole img").clientWidth, small.naturalWidth];
document.querySelector("dialog.whole .close").click();
return new Promise((done) => setTimeout(() => done([...sizes, document.querySelectorAll("dialog").length]), 200));
"""
    with on_a_server(pages) as places:
        (url,) = [url for page, _, url in places if page.name == "off_policy.html"]
        shown.show(url, width=390)
        drawn, natural, dialogs = shown.run(script)
    assert drawn == natural and dialogs == 0


def test_no_link_of_the_site_is_dead(pages):
    """Catches a place whose name Quarto makes in another way than the built-in pages, and a link into `site_libs`."""
    assert_no_link_is_dead({page: Elements(page.read_text(encoding="utf-8")) for page in pages})


def test_headings_of_notebooks_are_those_of_the_built_in_pages(pages):
    """Catches a cell whose lines Quarto runs together, and a heading that it reads in another way."""
    for page in pages:
        if page.parent.name == "notebooks":
            text = page.read_text(encoding="utf-8")
            found = re.findall(r'<li><a href="#(section-\d)"[^>]*>(.*?)</a>', text)
            told = builtin.body(read(PROJECT / "notebooks" / page.with_suffix(".ipynb").name)).contents
            wanted = [(anchor, heading) for anchor, heading in told if anchor.startswith("section-")]
            assert [(anchor, as_text(heading)) for anchor, heading in found] == wanted, page


def test_the_sidebar_has_one_line_for_each_page(pages):
    """Catches an entry of `_quarto.yml` that Quarto reads in another way than the built-in page."""
    entry = r'<a href="[^"]+" class="sidebar-item-text[^"]*">\s*<span class="menu-text">(.*?)</span>'
    found = re.findall(entry, pages[0].read_text(encoding="utf-8"))
    site = website(PROJECT)
    told = [as_text(text) for text in found]
    assert len(told) == len(site.pages) and max(map(len, told)) <= LONGEST_IN_SIDEBAR
    assert set(site.short.values()) <= set(told)


def test_captions_of_the_site_stand_at_their_pictures(pages):
    """Catches a caption that stands below the verdict of a check: Quarto hands it to what is shown first."""
    for page in pages:
        if page.parent.name == "notebooks":
            text = page.read_text(encoding="utf-8")
            figures = re.findall(r"<figure\b[^>]*>.*?<img\b.*?<figcaption[^>]*>(.*?)</figcaption>", text, re.DOTALL)
            told = builtin.body(read(PROJECT / "notebooks" / page.with_suffix(".ipynb").name)).html
            wanted = re.findall("<figcaption>(.*?)</figcaption>", told, re.DOTALL)
            assert [as_text(caption) for caption in figures] == [as_text(caption) for caption in wanted], page
            assert all(as_text(text).count(as_text(caption)) == 1 for caption in wanted), page


def test_the_search_lands_on_sections(pages):
    """Catches cells that Quarto's search does not know, and a first section that it leaves without a name."""
    site = pages[0].parent
    entries = json.loads((site / "search.json").read_text(encoding="utf-8"))
    found = {entry["href"]: entry["section"] for entry in entries}
    for page in pages:
        link = page.relative_to(site).as_posix()
        assert link in found
        for place, heading in SECTION.findall(page.read_text(encoding="utf-8")):
            if place.startswith("section-"):
                assert as_text(found[f"{link}#{place}"]).split() == as_text(heading).split(), (link, place)


def test_a_wrong_address_is_shown_a_finished_page(pages):
    """Catches the one page that is in no list, with links that begin beside it."""
    nowhere = pages[0].parent / builtin_site.NOWHERE.with_suffix(".html")
    text = nowhere.read_text(encoding="utf-8")
    links = [link for link in Elements(text).links if link and not link.startswith(("#", "http"))]
    root = urlsplit(ADDRESS).path
    assert {f"{root}/{page.relative_to(pages[0].parent).as_posix()}" for page in pages} <= set(links)
    assert all(link.startswith(f"{root}/") for link in links), links


def test_what_is_hidden_holds_no_link(pages):
    """Catches a word whose only link stands in the description that the search reads, where nobody sees it."""
    for page in pages:
        hidden = re.findall(r"<div\b[^>]*\bhidden=[^>]*>(.*?)</div>", page.read_text(encoding="utf-8"), re.DOTALL)
        assert not any("<a" in text for text in hidden), page
        assert hidden or page.parent.name != "notebooks"


def test_equations_have_the_numbers_by_which_notebooks_name_them(pages):
    """Catches an equation that Quarto counts in another way than the built-in pages."""
    formulas = next(page for page in pages if page.name == "formulas.html").read_text(encoding="utf-8")
    found = re.findall(r'<a href="#(eq-[\w-]+)"[^>]*>(.*?)</a>', formulas)
    counted = {one.name: one.number for some in by_notebook(PROJECT).values() for one in some}
    assert found and all(as_text(words).split()[-1] == str(counted[name]) for name, words in found)


def as_text(fragment: str) -> str:
    """The text of a piece of HTML, with straight quotation marks."""
    said = html.unescape(re.sub("<[^>]*>", "", fragment))
    return re.sub("[‘’]", "'", re.sub("[“”]", '"', said))


def test_the_keyboard_can_skip_what_stands_on_every_page(shown, pages):
    """Catches a page on which whoever has no mouse goes through the whole sidebar first."""
    first = "const skip = document.querySelector('a'); return [skip.className, document.querySelector(skip.hash).id];"
    with on_a_server(pages) as places:
        for _, _, url in places:
            shown.show(url)
            assert shown.run(first) == ["skip", "quarto-document-content"], url


def test_a_public_address_brings_what_depends_on_it(pages):
    """Catches a course that moved to its home without a map, without a picture for who links to it, without Colab."""
    site = pages[0].parent
    names = {page.relative_to(site).as_posix() for page in pages}
    mapped = re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text(encoding="utf-8"))
    assert set(mapped) == {f"{ADDRESS}/{name}" for name in names}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        source = page.relative_to(site).with_suffix(".ipynb" if page.parent.name == "notebooks" else ".qmd").as_posix()
        (picture,) = re.findall(rf'<meta property="og:image" content="{ADDRESS}/([^"]+)"', text)
        assert (site / picture).is_file(), page
        for action in ("blob", "edit"):
            assert f'href="{REPOSITORY}/{action}/main/{source}"' in text, page
        if page.parent.name == "notebooks":
            (opened,) = re.findall(
                r'href="https://colab.research.google.com/github/owner/name/blob/gh-pages/(.*?)"', text
            )
            assert REPOSITORY in (site / opened).read_text(encoding="utf-8")


def test_a_report_by_quarto_is_the_built_in_one_in_all_but_the_cells(tmp_path):
    """Catches a report without verdict, contents or form, one that carries a theme, and pictures that are lost."""
    notebook = PROJECT / "notebooks" / "dots.ipynb"
    notes = []
    page = render(notebook, tmp_path / "quarto", "quarto", say=notes.append)
    plain = render(notebook, tmp_path / "builtin", "builtin")
    text = page.read_text(encoding="utf-8")
    beside = plain.read_text(encoding="utf-8")
    assert notes == []
    assert listed(text) == listed(beside) and text.split("<main")[0] == beside.split("<main")[0]
    assert text.count("<img") == beside.count("<img") and text.count("<details") == beside.count("<details")
    assert page.stat().st_size < 1.2 * plain.stat().st_size < HEAVIEST


@pytest.mark.parametrize("text", DANGEROUS)
def test_nothing_of_a_notebook_makes_quarto_read_anything(good, save, tmp_path, monkeypatch, text):
    """Catches a secret, a file or an address that gets into the page, wherever the notebook asks for it."""
    monkeypatch.setenv("COURSE_SECRET", "not for a student")
    loud = code(f"#| fig-cap: '{text.splitlines()[0]}'\n# Cell 3: {text.splitlines()[0]}\n{text!r}")
    loud["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": {"text/markdown": text}}]
    good["cells"] += [markdown(text), loud]
    notes = []
    page = render(save(good), tmp_path / "out", "quarto", say=notes.append).read_text(encoding="utf-8")
    assert notes == [] and "not for a student" not in page and "root:x:0" not in page
    assert not re.search(r"<(?:img|iframe|script|link)\b[^>]*\b(?:src|href)=[\"'](?!data:)", page.split("<main")[1])
