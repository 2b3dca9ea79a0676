"""The finishing of either engine's pages: openings, questions, a policy, links to words, the files beside them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from checker.pages.templates import style
from checker.reading.website import Website, website
from checker.site import finish
from checker.site.terms import papers
from tests.checker.site.small_course import FIRST, PAGES, REPOSITORY, SECOND, small_course

TEXT = "A ratio by Shao et al. 2024."


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    return small_course(tmp_path_factory.mktemp("small") / "project")


@pytest.fixture
def finished(project, tmp_path) -> Path:
    """The folder of a site whose pages an engine wrote, each with the same text, finished twice as `make site` may."""
    for page in [*PAGES, finish.NOWHERE]:
        file = tmp_path / page.with_suffix(".html")
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"<html><head></head><main><header>x</header><p>{TEXT}</p></main></html>", encoding="utf-8")
    (tmp_path / PAGES[4].with_suffix(".html")).unlink()
    for _ in range(2):
        finish.finish(project, tmp_path, website(project))
    return tmp_path


def test_words_and_papers_of_every_page_lead_to_where_they_are_explained(finished):
    """Catches a page without its links, a link that is wrong from its folder, and a glossary that explains itself."""
    leads = {
        page: re.findall(r'<a class="(\w+)" href="([^"]+)"', text(finished, page)) for page in [*PAGES[:4], PAGES[5]]
    }
    from_notebook = [("term", "../docs/glossary.html#ratio"), ("cited", "../docs/references.html#shao2024")]
    assert leads[SECOND] == leads[FIRST] == from_notebook
    assert leads[PAGES[0]] == [("term", "docs/glossary.html#ratio"), ("cited", "docs/references.html#shao2024")]
    assert leads[PAGES[3]] == [("cited", "references.html#shao2024")] and leads[PAGES[5]] == []
    assert text(finished, finish.NOWHERE).count("<a ") == 0


def test_a_site_without_glossary_and_references_links_nothing(project):
    """Catches a link to a page that the site does not have."""
    site = Website("x", "", [SECOND])
    assert finish._entries(project, SECOND, site, []) == []
    listed = papers(project)
    with_papers = finish._entries(project, SECOND, replace(site, pages=[SECOND, finish.REFERENCES]), listed)
    assert [entry.kind for entry in with_papers] == ["cited"]


def test_the_files_of_a_notebook_lie_beside_the_pages(finished, project):
    """Catches a link to a file that is not there, another notebook's file, and an edition for Colab without set-up."""
    files = {file.name: file for file in (finished / "files").iterdir()}
    assert set(files) == {"first.ipynb", "second.ipynb", "second-blank.ipynb", "second-colab.ipynb", "math.woff2"}
    blank = project / "notebooks" / "student" / "second.ipynb"
    assert files["second.ipynb"].read_bytes() == (project / SECOND).read_bytes()
    assert files["second-blank.ipynb"].read_bytes() == blank.read_bytes()
    colab = files["second-colab.ipynb"].read_text(encoding="utf-8")
    cells = json.loads(colab)["cells"]
    assert [cell for cell in cells if cell["id"] != "colab-setup"] == json.loads(blank.read_text())["cells"]
    (setup,) = (cell["source"] for cell in cells if cell["id"] == "colab-setup")
    assert REPOSITORY in setup and "größer" in colab and colab.startswith("{\n") and colab.endswith("}\n")


def text(folder: Path, page: Path) -> str:
    return (folder / page.with_suffix(".html")).read_text(encoding="utf-8")


def test_a_notebook_page_begins_with_what_it_teaches_and_ends_with_its_questions(finished):
    """Catches an opening above the title or below the text, and questions on the page of a notebook that has none."""
    second = text(finished, SECOND)
    places = [second.index(part) for part in ("</header>", 'id="teaches"', "A <a", 'id="questions"', "</main>")]
    assert places == sorted(places) and "Why" in second
    assert 'id="teaches"' in text(finished, FIRST) and 'id="questions"' not in text(finished, FIRST)
    assert 'id="teaches"' not in text(finished, PAGES[0])


def test_the_opening_says_what_comes_before_and_how_to_open_it(project):
    """Catches a link that is wrong from the notebook's folder, a number of questions or a title that is not theirs."""
    site = website(project)
    shown = finish.opening(project, SECOND, site)
    links = dict(re.findall(r'<a href="([^"]+)"[^>]*>(.*?)</a>', shown))
    source = f"{REPOSITORY}/{{}}/main/notebooks/second.ipynb"
    place = "owner/course/blob/gh-pages/files/second-colab.ipynb"
    formulas = {
        f"../docs/formulas.html#eq-{name}": f"Equation {n}" for n, name in enumerate(("loss", "mean", "rate"), 1)
    }
    assert (
        links
        == {
            "first.html": "The first",
            "../files/second.ipynb": "the worked notebook",
            "../files/second-blank.ipynb": "to fill in",
            "#questions": "1 questions",
            source.format("blob"): "its source",
            source.format("edit"): "edit it",
            f"https://colab.research.google.com/github/{place}": "Colab",
            f"https://www.kaggle.com/kernels/welcome?src=https://github.com/{place}": "Kaggle",
            "https://codespaces.new/owner/course": "Codespaces",
        }
        | formulas
    )
    assert "Loss (" in shown and "), Rates (" in shown and '<h2 id="teaches">What it teaches</h2>' in shown
    assert style("open.css") in shown and "to count" in shown and "<img" not in shown


def test_the_opening_shows_the_picture_of_the_result(project):
    """Catches a notebook that drew what came of it, and whose page begins without."""
    shown = finish.opening(project, FIRST, website(project))
    assert re.search(r'<img src="data:image/png;base64,[^"]{40,}"', shown)
    assert "needs no other notebook" in shown and "Equation" not in shown and "Colab" not in shown


def test_a_site_without_formulas_or_repository_names_none(project, tmp_path):
    """Catches links to a page that the site does not have and to a source that is public nowhere."""
    site = Website("x", "", [FIRST, SECOND])
    shown = finish.opening(project, SECOND, site)
    finish._write_files(project, SECOND, tmp_path, site)
    assert not (tmp_path / finish.FILES / "second-colab.ipynb").exists()
    assert "Equation" not in shown and "Colab" not in shown and "edit it" not in shown and "to fill in" in shown


def test_a_page_without_a_title_gets_no_opening_and_without_questions_no_heading():
    """Catches a page that loses its beginning: its place is looked for below `<main`, and not found."""
    for page in ("<main><p>Text.</p></main>", "</header><main></main>"):
        assert finish._with_openings(page, "opening") == page
    assert finish._with_questions("<main>Text.</main>", "") == "<main>Text.</main>"
    assert finish._with_openings("</header><main></header></main>", "x") == "</header><main></header>x</main>"


def test_questions_stand_above_the_way_to_the_next_page():
    """Catches questions below the links at a page's end, or twice."""
    page = '<main>Text.<nav class="turn">next</nav></main>'
    assert finish._with_questions(page, "asked") == '<main>Text.asked<nav class="turn">next</nav></main>'


def test_a_page_has_one_policy():
    """Catches a page of the other engine that may load from elsewhere, and a second policy beside the engine's own."""
    page = finish._with_policy("<html><head><title>x</title></head><head></head></html>", "default-src 'none'")
    told = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    assert page.count(told) == 1 and re.match(rf"<html><head>\s*{re.escape(told)}<title>", page)
    assert finish._with_policy(page, "other") == page


def test_the_page_that_checks_has_its_policy(project, tmp_path):
    """Catches a page into which files are dropped and that may send them somewhere."""
    site = Website("x", "", [finish.CHECK, finish.TRY])
    (tmp_path / "docs").mkdir()
    for page in site.pages:
        (tmp_path / page).with_suffix(".html").write_text("<head></head><main>x</main>", encoding="utf-8")
    finish.finish(project, tmp_path, site)
    assert "connect-src 'self'" in text(tmp_path, finish.CHECK) and "connect-src" not in text(tmp_path, finish.TRY)


def test_formulas_have_their_font_at_the_address_from_the_page(project, tmp_path):
    """Catches a font that is looked for in the page's own folder, and one that every page without formulas loads."""
    site = Website("x", "", [PAGES[0], PAGES[4]])
    (tmp_path / "docs").mkdir()
    for page in site.pages:
        (tmp_path / page).with_suffix(".html").write_text("<style></style><main><math></math></main>", encoding="utf-8")
    finish.finish(project, tmp_path, site)
    assert "url(files/math.woff2)" in text(tmp_path, PAGES[0]) and "url(../files/math.woff2)" in text(
        tmp_path, PAGES[4]
    )
    (tmp_path / "index.html").write_text("<style></style><main></main>", encoding="utf-8")
    finish.finish(project, tmp_path, site)
    assert "woff2" not in text(tmp_path, PAGES[0])


def test_nothing_of_a_page_by_quarto_is_loaded_from_elsewhere():
    """Catches scripts that Quarto adds for outputs of other notebooks, and what stands between two that is lost."""
    added = (
        '<script src="https://example.org/a.js" crossorigin="anonymous"></script>\n'
        "<script type=\"application/javascript\">define('jquery', [],\nfunction() {})</script>\n"
        '<script src="own.js"></script>'
    )
    page = f"<html><body><main {finish.QUARTOS}>{added}</main></body></html>"
    completed = finish._completed(page)
    assert f'<main {finish.QUARTOS}><script src="own.js"></script></main>' in completed
    assert completed.count(style("enlarge.js")) == 1
    assert finish._completed("<html><body><main>built in</main></body></html>").count("<script") == 0
