"""The course site without Quarto, read as text: its landing page, its pieces, its links."""

import base64
import html
import io
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from PIL import Image, ImageColor

from checker.outputs.chapters import chapters
from checker.pages import templates
from checker.reading.notebook import read
from checker.reading.website import website
from checker.site import linking, searching, terms
from checker.site.pieces import thumbnails
from shared import plots

PROJECT = Path(__file__).parents[3]
LOADING = {"src", "srcset", "poster", "data", "background", "action"}
# Of code: tens of thousands of tags, none of which is a place or a link.
COLOURS = re.compile(r'<span class="[a-z]{1,2}\d?">|</span>')


class Elements(HTMLParser):
    """The ids of a page, where its links lead, what it loads, the destinations of its style sheets' links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(COLOURS.sub("", text))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            elif name == "href" and tag == "a":
                self.links.append(value)
            elif name in LOADING or name == "href":
                self.loaded.append(value)


@pytest.fixture(scope="module")
def pages(course_pages) -> dict[Path, Elements]:
    return {page: Elements(page.read_text(encoding="utf-8")) for page in course_pages}


LONGEST_IN_SIDEBAR = 24  # characters: what a line of it holds


def test_each_page_has_one_line_in_the_sidebar(course_pages):
    """Catches a title of three lines, beside which the list of chapters no longer fits the screen."""
    (listed,) = re.findall(
        r'<ol class="pages">.*?</ol>\n</details>', course_pages[0].read_text(encoding="utf-8"), re.DOTALL
    )
    found = re.findall(r'<a href="[^#"]+"[^>]*>(.*?)</a>', listed)
    site = website(PROJECT)
    assert len(found) == len(site.pages)
    assert [text for text in found if len(html.unescape(text)) > LONGEST_IN_SIDEBAR] == []
    short = [site.short[page] for page in site.pages if page in site.short]
    assert short and [text for text in map(html.unescape, found) if text in short] == short


def test_the_course_site_needs_no_quarto(course_pages):
    """Catches a table of verdicts in place of a course: pages in the sidebar's order, titled, without a form."""
    texts = [page.read_text(encoding="utf-8") for page in course_pages]
    titles = [re.search("<h1>(.*?)</h1>", text)[1] for text in texts]
    assert course_pages[0].name == "index.html"
    assert {page.stem for page in course_pages} >= {path.stem for path in (PROJECT / "notebooks").glob("*.ipynb")}
    for number, text in enumerate(texts):
        turns = dict(re.findall(r'<a rel="(prev|next)" href="[^"]+">(?:← )?([^<]*?)(?: →)?</a>', text))
        around = {"prev": titles[number - 1] if number else None, "next": (titles + [None])[number + 1]}
        assert turns == {name: title for name, title in around.items() if title}
        assert "Save grades" not in text and 'class="pass"' not in text
        assert not re.findall(r'href="(?!\.\./files/)[^"]*\.(?:ipynb|qmd)', text)


def test_no_link_between_pages_is_dead(pages):
    """Catches a page that was renamed, and a word of the glossary that has no entry."""
    assert_no_link_is_dead(pages)


def assert_no_link_is_dead(pages: dict[Path, Elements]) -> None:
    """Every link of a site's pages leads to one of them, to a place that is there, or to a notebook beside them."""
    ids = {page.resolve(): set(found.ids) for page, found in pages.items()}

    @cache  # every page has the links of the sidebar, and to ask the disk takes a while
    def led_to(folder: Path, address: str) -> Path:
        target = (folder / unquote(address)).resolve()
        return target / "index.html" if target.is_dir() else target

    for page, found in pages.items():
        here = page.resolve()
        for link in found.links:
            if re.match(r"[a-z]+:", link):
                continue
            address, _, place = link.partition("#")
            target = led_to(page.parent, address) if address else here
            assert target in ids or target.suffix == ".ipynb" and target.is_file(), (page.name, link)
            assert not place or unquote(place) in ids[target], (page.name, link)


def test_no_place_of_a_page_is_there_twice(pages):
    """Catches two headings with the same words, of which links find the first only."""
    for page, found in pages.items():
        assert len(found.ids) == len(set(found.ids)), page


def test_a_page_loads_nothing_from_elsewhere(pages):
    for page, found in pages.items():
        assert all(address.startswith("data:") for address in found.loaded), page
        styles = "".join(re.findall(r"<style>(.*?)</style>", page.read_text(encoding="utf-8"), re.DOTALL))
        fonts = [(page.parent / address).resolve() for address in re.findall(r"url\((.*?)\)", styles)]
        assert "@import" not in styles and all(font.is_file() for font in fonts), page
        assert len(fonts) == ("<math" in page.read_text(encoding="utf-8")), page


def test_headings_of_pages_stand_where_the_search_of_quarto_finds_them():
    """Catches headings that begin with `##`: Quarto's search knows the page, or the section above, and not theirs."""
    for path in [PROJECT / "index.qmd", *PROJECT.glob("docs/*.qmd")]:
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert re.findall("^##+ .*", text, re.MULTILINE) == [], path.name


@pytest.fixture(scope="module")
def index(course_pages) -> dict[str, dict[str, tuple[str, str]]]:
    """The search's index: of each page, by its address, the heading and the text of each place."""
    script = (course_pages[0].parent / searching.INDEX).read_text(encoding="utf-8")
    listed = json.loads(script.removeprefix("globalThis.searched = ").removesuffix(";\n"))
    return {page["address"]: {place: (head, text) for place, head, text in page["sections"]} for page in listed}


def test_the_search_knows_every_section_of_every_page(pages, index):
    """Catches sections inside a piece, a paper or a function, that the search leaves out."""
    landing = next(iter(pages)).parent
    for page in pages:
        places = set(index[page.relative_to(landing).as_posix()])
        shown = page.read_text(encoding="utf-8").split("<main")[1]
        sections = re.findall(r'<h2 id="([^"]+)"|<section class="level2" id="([^"]+)"', shown)
        assert {heading or section for heading, section in sections} <= places, page
        assert "" in places, page
    assert "shao2024" in index["docs/references.html"] and "shared.kl" in index["docs/api.html"]


def test_the_search_knows_texts_and_code_and_no_outputs(index):
    """Catches an index of headings alone, one full of numbers, and words of the page around."""
    assert "made from lengths" in index["docs/glossary.html"]["padding"][1]
    (text,) = (text for head, text in index["notebooks/dots.html"].values() if head == "Advantages: group_advantages")
    assert "def group_advantages(rewards" in text and "right in all" not in text
    assert "Show all code" not in json.dumps(index)


def test_a_formula_is_in_the_index_once_and_on_one_line(index):
    """Catches signs of a formula run together, and one that no page shows as a formula."""
    text = index["docs/glossary.html"]["k1-k2-k3"][1]
    assert "x = log π_ref − log π_θ" in text and text.count("e^x − x − 1") == 1
    for address, places in index.items():
        if address.startswith("docs/") and address != "docs/api.html":
            assert not [text for _, text in places.values() if re.search(r"\$[^$]*\\[a-z]", text)], address


def test_all_pages_stand_in_the_sidebar():
    sources = website(PROJECT).pages
    assert {path.relative_to(PROJECT) for path in PROJECT.glob("docs/*.qmd")} <= set(sources)


def test_a_page_says_in_which_section_it_stands(course_pages):
    """Catches a sidebar that is one long list, a section named before each of its pages, a page without a way home."""
    site = website(PROJECT)
    names = list(dict.fromkeys(site.sections.values()))
    assert len(names) > 1
    for page, source in zip(course_pages, site.pages, strict=True):
        text = page.read_text(encoding="utf-8")
        assert re.findall('<li class="section">(.*?)</li>', text) == names
        crumbs = re.findall(r'<nav class="crumbs"[^>]*><a href="([^"]+)">.*?</a>(?: › (.*?))?</nav>', text)
        assert [section for _, section in crumbs] == (
            [site.sections.get(source, "")] if page != course_pages[0] else []
        )
        assert all((page.parent / link).resolve() == course_pages[0].resolve() for link, _ in crumbs)


def test_every_card_says_what_its_record_says_that_is_reached(pages):
    """Catches numbers without what they measure, and cards that have those of their neighbours."""
    landing = next(iter(pages)).read_text(encoding="utf-8")
    shown = r'<p class="measured">(.*?), on held-out data: <b>(.*?)</b> before, <b>(.*?)</b> after</p>'
    said = [tuple(map(html.unescape, one)) for one in re.findall(shown, landing)]
    assert said == [(one.measured[0].upper() + one.measured[1:], one.before, one.after) for one in chapters(PROJECT)]


def test_the_lines_of_a_picture_made_small_keep_their_colours():
    """Catches five lines of which two look alike on the landing page: with 32 colours few are left for a thin line."""
    lines = {f"way {n}": [([0, 1, 2], [0, n, seed - n / 2]) for seed in (3, 4, 6)] for n in range(6)}
    figure = plots.panels({"solved, held out": lines}, "samples", legend_below=True)
    out = io.BytesIO()
    figure.savefig(out, format="png")
    address = thumbnails.PNG + base64.b64encode(out.getvalue()).decode()
    small = thumbnails.thumbnail(address).removeprefix(thumbnails.PNG)
    with Image.open(io.BytesIO(base64.b64decode(small))) as picture:
        there = {colour for _, colour in picture.convert("RGB").getcolors(1000)}
    for colour in plots.COLOURS:
        wanted = ImageColor.getrgb(colour)
        assert min(sum(abs(a - b) for a, b in zip(wanted, found)) for found in there) < 20, colour


def cited(text: str) -> set[str]:
    """The papers that a text names by author and year, "Shao et al. 2024"."""
    found = re.findall(
        r"\b([A-Z][\w-]+(?:, [A-Z][\w-]+)*(?: et al\.| and [A-Z][\w-]+)?),?\s+\(?((?:19|20)\d\d)\b", text
    )
    return {f"{names} {year}" for names, year in found}


def test_every_paper_that_is_named_is_in_the_references():
    """Catches a notebook that names a paper which the site's references lack, and an entry that nobody names."""
    texts = {path: path.read_text(encoding="utf-8") for path in PROJECT.glob("docs/*.qmd")}
    texts |= {path: "\n".join(c.source for c in read(path).cells) for path in PROJECT.glob("notebooks/*.ipynb")}
    listed = terms.papers(PROJECT)
    for path, text in texts.items():
        for name in cited(text):
            assert any(re.search(paper.words, name) for paper in listed), (
                f"{path.name} names {name}: add it to {terms.PAPERS}"
            )
    sources = [path.read_text(encoding="utf-8") for path in PROJECT.glob("shared/**/*.py")]
    for paper in listed:
        assert any(re.search(paper.words, text) for text in [*texts.values(), *sources]), (
            f"{paper.key} is named nowhere"
        )


def test_words_and_papers_are_linked_once_and_where_they_stand_first(pages):
    """Catches a page full of links, one that lost them, and a link inside code, a heading or another link."""
    text = next(page for page in pages if page.name == "dots.html").read_text(encoding="utf-8")
    links = re.findall(r'<a class="(?:term|cited)" href="([^"]+)"', text)
    assert len(links) == len(set(links)) and "../docs/glossary.html#advantage" in links
    assert "../docs/references.html#shao2024" in links
    for page in pages:
        assert not re.search(r"<(h\d|code|pre|a)\b[^>]*>[^<]*<a class=\"term", page.read_text(encoding="utf-8")), page


def test_a_word_in_another_sense_is_not_linked(course_pages):
    """Catches "a group on Gradescope" that leads to a group of completions, and an exception that nothing needs."""
    for source, words in terms.IN_ANOTHER_SENSE.items():
        page = course_pages[0].parent / source.with_suffix(".html")
        text = page.read_text(encoding="utf-8")
        assert words <= set(terms.headings(PROJECT)), source
        for word in words:
            assert f'glossary.html#{terms.anchor(word)}"' not in text.split("<main")[1].split("</main>")[0], (
                page,
                word,
            )
        linked = linking.linked(text, terms.glossary_entries(PROJECT, "g"))
        assert all(f'href="g#{terms.anchor(word)}"' in linked for word in words), source


def test_everyday_words_are_linked_where_the_glossary_is_meant(course_pages):
    """Catches "the environment variable" that leads to games, and a page of games whose turns are not explained."""
    for word, meant in terms.MEANT_ON.items():
        for page in course_pages:
            source = page.relative_to(course_pages[0].parent)
            linked = re.search(rf'<a class="term" href="[^"]*#{terms.anchor(word)}"', page.read_text(encoding="utf-8"))
            assert (linked is not None) == any(source == one.with_suffix(".html") for one in meant), (word, page)


def test_a_wrong_address_has_a_page_whose_links_are_right_from_anywhere(course_pages):
    """Catches a page without a way on, and links that begin at the folder that is not there."""
    folder = course_pages[0].parent
    root = f"{urlsplit(website(PROJECT).address).path}/"
    text = (folder / "404.html").read_text(encoding="utf-8")
    links = [link for link in Elements(text).links if not link.startswith("#")]
    assert f"{root}index.html" in links and f'data-index="{root}files/search.js"' in text
    assert all(link.startswith(root) and (folder / link.removeprefix(root)).is_file() for link in links)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_both_engines_read_the_same_styles(theme):
    """Catches rules or colours that only one of them gets, and a colour that a theme forgets."""
    settings = yaml.safe_load((PROJECT / "_quarto.yml").read_text(encoding="utf-8"))
    quartos = settings["format"]["html"]["theme"][theme]
    assert {"checker/pages/both.scss", f"checker/pages/{theme}.scss"} <= set(quartos)
    colours = re.findall(
        r"^\$[\w-]+: (#\w+);", (PROJECT / f"checker/pages/{theme}.scss").read_text(encoding="utf-8"), re.M
    )
    sheet = templates.css()
    assert (PROJECT / "checker/pages/both.scss").read_text(encoding="utf-8") in sheet
    in_sheet = re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\);", sheet[: sheet.index("}")])
    assert [name for name, *_ in in_sheet] == list(templates.COLOURS.values())
    assert {light if theme == "light" else dark for _, light, dark in in_sheet} <= set(colours)


def test_every_colour_of_a_style_is_defined():
    """Catches a name that no theme defines: a browser then draws in black, or not at all."""
    sheet = templates.css()
    assert set(re.findall(r"var\(--([\w-]+)\)", sheet)) <= set(re.findall(r"--([\w-]+):", sheet))
    quartos = (PROJECT / "site/common.scss").read_text(encoding="utf-8")
    both = (PROJECT / "checker/pages/both.scss").read_text(encoding="utf-8")
    assert set(re.findall(r"var\(--([\w-]+)\)", both)) <= set(re.findall(r"--([\w-]+): #\{", quartos))
