"""Pages of the course in a real browser: nothing is wider than a phone, every cell is listed, nothing is asked for, no
one is left out, and what can be operated does what it says.
"""

import base64
import json
import re
from pathlib import Path

import pytest

from checker.pages.rendering import render
from checker.pages.templates import MATH_FONT
from checker.site.pieces import trying
from tests.checker.browser import CHROMIUM, DRIVER, browser
from tests.checker.conftest import markdown
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
)  # fmt: skip

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A running browser."""
    if DRIVER is None:
        pytest.skip("no chromedriver is installed")
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def pages(course_pages, tmp_path_factory) -> list[Path]:
    """The course site without Quarto, a report, and the report on a blank edition."""
    folder = tmp_path_factory.mktemp("pages")
    made = list(course_pages)
    made.append(render(PROJECT / "notebooks" / "dots.ipynb", folder, "builtin"))
    made.append(render(PROJECT / "notebooks" / "student" / "dots.ipynb", folder / "blank", "builtin"))
    return made


def test_the_landing_page_and_a_report_fit_every_screen_and_ask_for_nothing(shown, pages):
    """Catches what is wrong on every page: a style wider than a phone, a web font, an icon that is not there."""
    assert_all_fit(shown, [pages[0], pages[-1]])


def test_every_page_fits_every_screen_and_asks_for_nothing(shown, pages):
    """Catches a formula or an output wider than a phone, and a cell that the contents do not list."""
    assert_all_fit(shown, pages)


def assert_all_fit(shown, pages: list[Path]) -> None:
    for page in pages:
        assert page.stat().st_size < HEAVIEST, page
        for width, dark in LOOKS:
            loaded = assert_fits(shown, page.as_uri(), width, dark)
            assert loaded[0] == page.as_uri() and all(Path(font).name == MATH_FONT for font in loaded[1:])
        if (PROJECT / "notebooks" / page.name).with_suffix(".ipynb").is_file():
            assert shown.run(LISTED) == [[section, 1] for section in SECTIONS], page


def test_outputs_of_notebooks_fit_a_phone(shown, course_pages):
    """Catches a table of numbers that a phone cuts, and lines of numbers that do not wrap."""
    for page in course_pages:
        if page.parent.name == "notebooks":
            assert_outputs_fit_a_phone(shown, page.as_uri())


def test_nobody_is_left_out(shown, pages):
    """Catches pictures without a text, words too pale, boxes that only a mouse can scroll, fields without a name."""
    if not AXE.is_file():
        pytest.skip(f"axe-core is not at {AXE}: npm install axe-core@4, or name its axe.min.js in AXE")
    for page in pages:
        for width, dark in LOOKS:
            assert_nobody_is_left_out(shown, page.as_uri(), width, dark)


def test_paper_shows_code_and_no_form(shown, pages):
    """Catches folds that stay closed on paper, a form to be filled in there, the pale words of the dark on white."""
    report = next(page for page in pages if 'id="save-grades"' in page.read_text(encoding="utf-8"))
    shown.show(report.as_uri(), media="print")
    height = "return document.querySelector('section.code .highlight').getBoundingClientRect().height;"
    form = "return getComputedStyle(document.querySelector('.rubric')).display;"
    assert shown.run(height) > 20 and shown.run(form) == "none"
    assert_paper_can_be_read(shown, report.as_uri())


def test_a_page_begins_with_what_it_teaches_and_lists_it_first(shown, pages):
    """Catches a page that begins as a log does: with the settings of its own file."""
    shown.show(page_of(pages, "dots").as_uri())
    first = """
    const headings = [...document.querySelectorAll("main h2")].slice(0, 2);
    const listed = [...document.querySelectorAll(".here ol a")].slice(0, 2);
    return [headings, listed].map((some) => some.map((one) => one.textContent));
    """
    assert shown.run(first) == [["What it teaches", "Cell 0: Quarto's YAML header"]] * 2
    height = "return document.querySelector('.settings').getBoundingClientRect().height;"
    assert shown.run(height) < 60
    assert shown.run("return document.querySelector('#teaches + figure img').naturalWidth;") > 400


def test_the_theme_is_chosen_on_the_page(shown, pages):
    """Catches a button that does nothing, and drawings that stay white slabs in the dark."""
    look = """
    const of = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
    return [of("body", "backgroundColor"), of("main figure img", "filter") !== "none"];
    """
    shown.show(page_of(pages, "dots").as_uri())
    light = shown.run(look)
    shown.run("document.querySelector('button.theme').click();")
    chosen = shown.run(look)
    shown.show(page_of(pages, "dots").as_uri(), dark=True)
    dark = shown.run(look)
    shown.run("localStorage.clear();")
    assert light == ["rgb(255, 255, 255)", False] and chosen == dark == ["rgb(20, 23, 26)", True]


def test_a_picture_opens_at_its_own_size_on_a_phone(shown, pages):
    """Catches a figure of 1,300 pixels that a phone shows at 349 and no way to see more of it."""
    page = page_of(pages, "maxent_irl")
    shown.show(page.as_uri(), width=390)
    widths = """
    const image = [...document.querySelectorAll("main figure img[role=button]")].at(-1);
    image.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    const whole = document.querySelector("dialog img");
    const found = [image.clientWidth, whole.clientWidth, whole.naturalWidth, whole.alt === image.alt];
    document.querySelector("dialog .close").click();
    return [...found, document.querySelectorAll("dialog[open]").length];
    """
    small, whole, natural, named, left = shown.run(widths)
    assert small < 360 < whole == natural and named and left == 0


def test_the_cheat_sheet_is_one_sheet(shown, pages):
    """Catches a row too many, and the contents list or the footer on paper."""
    shown.show(page_of(pages, "cheat_sheet").as_uri())
    printed = shown.command("Page.printToPDF", preferCSSPageSize=True)
    assert len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(printed["data"]))) == 1


def page_of(pages: list[Path], name: str) -> Path:
    """The page with this name."""
    return next(page for page in pages if page.stem == name)


def test_all_code_opens_at_once_and_by_section(shown, pages):
    folds = "return [...document.querySelectorAll('section.code details')].filter((fold) => fold.open).length;"
    page = next(page for page in pages if page.name == "countdown.html")
    shown.show(page.as_uri())
    shown.run("document.querySelector('#section-6 + .open-section').click();")
    of_section = shown.run(folds)
    shown.run("document.querySelector('.open-all').click();")
    assert 1 < of_section < shown.run(folds) == page.read_text(encoding="utf-8").count('<section class="code">')


def test_a_run_is_watched_by_slider_and_by_question(shown, pages):
    """Catches controls that stay hidden, and a step that shows the group of another."""
    record = json.loads((PROJECT / "benchmarks" / "watch.json").read_text(encoding="utf-8"))
    shown.show(next(page for page in pages if page.name == "watch.html").as_uri(), width=390)
    said = """
    const form = document.querySelector(".watch form");
    for (const [name, value] of [["prompt", 2], ["step", 0]]) {
      form.elements[name].value = value;
      for (const event of ["input", "change"]) form.elements[name].dispatchEvent(new Event(event));
    }
    return [form.hidden, ...[...document.querySelectorAll(".watch td code")].map((one) => one.textContent)];
    """
    completions = record["prompts"][2]["groups"][0]["completions"]
    assert shown.run(said) == [False, *(completion.strip() for completion in completions)]


LOADED = """
document.querySelector(".try [name=load]").click();
return new Promise((done) => {
  const look = setInterval(() => {
    const said = document.querySelector(".try .said").textContent;
    if (/^Sampled|could not/.test(said)) { clearInterval(look); done(said); }
  }, 100);
});
"""
MOST_TO_LOAD = 30_000_000  # bytes, behind the button of "Try it"
GREEDY = """
const [row, form] = [arguments[0], document.querySelector(".try form")];
form.elements.row.value = row;
form.elements.G.value = 2;
form.elements.temperature.value = 0;
form.requestSubmit();
return new Promise((done) => {
  const look = setInterval(() => {
    if (form.querySelector("button").disabled) return;
    clearInterval(look);
    done(Object.fromEntries(["before", "after"].map((name) => {
      const section = document.querySelector(`[data-policy="${name}"]`);
      const said = [...section.querySelectorAll("td code")].map((one) => one.textContent);
      const digits = [...section.querySelectorAll(".digits li")].map((one) => Number(one.dataset.probability));
      return [name, { said, digits }];
    })));
  }, 50);
});
"""


def test_a_fit_is_watched_by_slider(shown, pages):
    """Catches arrows and rewards that stay those of the still."""
    looks = json.loads((PROJECT / "benchmarks" / "grid.json").read_text(encoding="utf-8"))["looks"]
    shown.show(next(page for page in pages if page.name == "watch.html").as_uri(), width=390)
    said = """
    const grid = document.querySelector(".gridworld");
    const form = grid.querySelector("form");
    form.elements.look.value = form.elements.look.max;
    form.elements.look.dispatchEvent(new Event("input"));
    const state = grid.querySelector("[data-map=found] [data-state='8']");
    const arrows = [...state.querySelectorAll("path")].map((arrow) => Number(arrow.style.getPropertyValue("--p")));
    return [form.hidden, state.querySelector("text").textContent, arrows];
    """
    assert shown.run(said) == [False, f"{looks[-1]['reward'][8]:.2f}", looks[-1]["policy"][8]]


def test_the_model_in_the_page_is_the_one_of_python(shown, pages):
    """Catches other weights, another prompt, a softmax or greedy choice of the page's own, more than is promised."""
    files = trying.made(PROJECT)
    if not files:
        pytest.skip(f"nothing was built for Try it: {trying.COMMAND}")
    assert sum(file.stat().st_size for file in files) <= MOST_TO_LOAD
    page = next(page for page in pages if page.name == "try.html")
    with served(page.parents[1]) as address:
        shown.show(f"{address}/docs/try.html")
        assert all(asked == f"{address}/docs/try.html" for asked in shown.requests())
        assert shown.run(LOADED).startswith("Sampled")
        told = json.loads((PROJECT / trying.MADE / "expected.json").read_text(encoding="utf-8"))
        for before, after in zip(told["before"], told["after"], strict=True):
            found = shown.run(GREEDY, before["row"])
            for name, wanted in (("before", before), ("after", after)):
                assert found[name]["said"] == [wanted["greedy"].strip()] * 2
                assert found[name]["digits"] == pytest.approx(wanted["digits"], abs=1e-4)
        assert all(asked.startswith(f"{address}/docs/try/") for asked in shown.requests())
        assert not shown.complaints()


def test_from_disk_the_page_says_that_it_needs_a_server(shown, pages):
    """Catches a button that can only fail."""
    shown.show(next(page for page in pages if page.name == "try.html").as_uri())
    said = "return [document.querySelector('.try .said').textContent, document.querySelector('.try form').hidden];"
    sentence, hidden = shown.run(said)
    assert hidden and ("http.server" in sentence or not trying.made(PROJECT))


# Words, and the place that the search has to name first: a word of the glossary, a function, a page's section.
SEARCHED = {
    "group_advantages": "docs/api.html#shared.advantages.group_advantages",
    "completion_logps": "docs/api.html#shared.logps.completion_logps",
    "scale_rewards": "docs/api.html#shared.advantages.group_advantages",
    "padding mask": "docs/glossary.html#padding",
    "clip-higher": "docs/glossary.html#clipping",
    "advantge": "docs/glossary.html#advantage",
    "k3": "docs/glossary.html#k1-k2-k3",
    "left padding": "docs/glossary.html#padding",
    "hint": "docs/start.html#hints",
    "reward hacking": "docs/glossary.html#reward-hacking",
    "GAE": "docs/glossary.html#gae",
    "api reference": "docs/api.html",
    "ratio": "docs/glossary.html#ratio",
    "shao 2024": "docs/references.html#shao2024",
    "counting dots": "notebooks/dots.html",
}
# Types into the search and waits until it has answered; where its entries lead, what they say, what is said of them.
TYPED = """
const field = document.querySelector(".search input");
const said = document.querySelector(".search-said");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
return new Promise((done) => {
  const look = setInterval(() => {
    if (!/place|loaded/.test(said.textContent)) return;
    clearInterval(look);
    const entries = [...document.querySelectorAll(".found li a")].filter((entry) => entry.offsetParent);
    done([entries.map((entry) => entry.href), entries.map((entry) => entry.textContent), said.textContent]);
  }, 20);
});
"""


def test_the_search_names_the_right_place_first(shown, pages):
    """Catches a name found in a notebook before its entry, a typo that finds nothing, a page that only its text has."""
    landing = pages[0]
    for page in (landing, next(page for page in pages if page.name == "glossary.html")):
        shown.show(page.as_uri())
        for words, place in SEARCHED.items():
            found, _, _ = shown.run(TYPED, words)
            assert found[0] == f"{landing.parent.as_uri()}/{place}", (words, found[:3])
        assert shown.run(TYPED, "advantge")[2].endswith('for "advantage"')
        assert shown.run(TYPED, "zzz qqq") == [[], [], "No places"]
        assert not shown.complaints()
    assert "Masks, made from lengths" in shown.run(TYPED, "padding mask")[1][0]


def test_the_form_saves_what_was_chosen_whatever_the_notebook_holds(shown, good, save, tmp_path):
    """Catches an element of the notebook with the id of the form's button, which then is never listened to."""
    good["cells"].append(markdown('<b id="save-grades">x</b><b id="grades">y</b>'))
    page = render(save(good), tmp_path / "out", "builtin")
    shown.show(page.as_uri())
    saved = """
    let kept = "";
    HTMLAnchorElement.prototype.click = function () { kept = this.download; };
    document.querySelector(".rubric button").click();
    return kept;
    """
    assert shown.run(saved).endswith(".grades.json")
