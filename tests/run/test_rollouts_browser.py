"""The page of a run's completions in a real browser: what can be done with it, on every screen, whatever they say."""

import json

import pytest

from shared.run.rollouts.page import page
from tests.checker.browser import NEEDED, browser
from tests.checker.looking import AXE, LOOKS, assert_fits, assert_nobody_is_left_out
from tests.run.test_rollouts_page import HOSTILE, a_run, group

pytestmark = NEEDED

OPENS_IN = 2000  # milliseconds, with 10,000 completions


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "run.html"
    file.write_text(page(a_run(40), "run.jsonl"), encoding="utf-8")
    return file.as_uri()


def test_it_fits_every_screen_and_asks_for_nothing(shown, address):
    """Catches a long word wider than a phone, a font or a script from elsewhere, a style that the policy refuses."""
    for width, dark in LOOKS:
        assert assert_fits(shown, address, width, dark) == [address]


def test_a_completion_is_text_and_nothing_else(shown, address):
    """Catches a completion, a prompt or a column that becomes an element or runs."""
    shown.show(address)
    found = """
    const group = document.querySelectorAll("article")[2];
    const texts = [...group.querySelectorAll(".side pre")].map((one) => one.textContent);
    const foreign = document.querySelectorAll("main img, main script, main style, main iframe");
    return JSON.stringify([document.title, foreign.length, texts]);  // the driver carries no half surrogate
    """
    title, foreign, texts = json.loads(shown.run(found))
    assert title == "Rollouts: run.jsonl" and not foreign and not shown.complaints()
    assert texts[0] == HOSTILE[0] and texts[-1] == "(nothing)" and len(texts) == len(HOSTILE)


CHOSEN = """
const form = document.querySelector("form");
form.reset();
for (const [name, value] of Object.entries(arguments[0])) form.elements[name].value = value;
form.dispatchEvent(new Event("input"));
return new Promise((done) => setTimeout(() => done([
  document.querySelector("[data-count]").textContent,
  [...document.querySelectorAll("article h3")].map((one) => one.textContent),
  [...document.querySelectorAll("article .found pre")].map((one) => one.textContent),
  [...document.querySelectorAll("mark")].map((one) => one.textContent),
]), 400));
"""


def test_by_step_search_and_reward(shown, address):
    """Catches a condition that is not asked, and the reward of another function."""
    shown.show(address)
    said, heads, _, _ = shown.run(CHOSEN, {"from": 3, "to": 4, "order": "last"})
    assert said.startswith("6 groups of 120, 24 completions") and heads == ["Step 4"] * 3 + ["Step 3"] * 3
    said, _, found, marked = shown.run(CHOSEN, {"search": "PERHAPS", "from": 2, "to": 2})
    assert said.startswith("1 group of 120, 1 completion of") and found == ["perhaps 3"] and marked == ["perhaps"]
    said, _, found, _ = shown.run(CHOSEN, {"low": 2, "high": 2, "to": 1})
    assert said.startswith("2 groups of 120, 2 completions") and found == ["I say 2", HOSTILE[2]]
    said, heads, _, _ = shown.run(CHOSEN, {"reward": 1, "low": 0})
    assert said.startswith("Nothing is like that") and heads == []


def test_a_prompt_over_the_run(shown, address):
    """Catches completions of another prompt, steps out of order, equal ones that are not counted together."""
    shown.show(address)
    over = """
    document.querySelector("article header button").click();
    const read = () => [...document.querySelectorAll(".run > li")].map((step) =>
      [step.querySelector("b").textContent, ...[...step.querySelectorAll("li")].map((one) => one.textContent)]);
    const few = read();
    document.querySelector("[data-run-all]").click();
    return [few, read(), document.querySelector("[data-run-prompt]").textContent];
    """
    few, everything, prompt = shown.run(over)
    assert prompt == "The numbers: 1 and 1" and len(few) == 30 and few[0][0] == "Step 1" and few[-1][0] == "Step 40"
    assert [step[0] for step in everything] == [f"Step {step}" for step in range(1, 41)]
    assert sorted(everything[6][1:]) == ["1 ×I say 21", "1 ×I say 22", "1 ×I say 70"]


def test_more_groups_come_when_asked_for(shown, address):
    """Catches ten thousand completions that are put into the page at once, and a button that adds none."""
    shown.show(address)
    count = "return document.querySelectorAll('article').length;"
    assert shown.run(count) == 20
    assert shown.run(f"document.querySelector('[data-more]').click(); {count}") == 40


def test_a_click_on_the_line_shows_its_step(shown, address):
    """Catches a click that counts from the left of the window."""
    shown.show(address)
    clicked = """
    const line = document.querySelector("[data-chart]");
    const dot = line.querySelectorAll("circle")[24].getBoundingClientRect();
    line.dispatchEvent(new MouseEvent("click", { clientX: dot.x + 3, clientY: dot.y }));
    return document.querySelector("article h3").textContent;
    """
    assert shown.run(clicked) == "Step 25"


def test_ten_thousand_completions_open_in_two_seconds(shown, tmp_path):
    """Catches work that grows with the completions while the page opens. The processor's time: no wait counts."""
    words = "I multiply the first two numbers and add what is left over. " * 5
    records = [
        one
        for step in range(1, 126)
        for place in range(10)
        for one in group(step, place, f"Prompt {place} " + words, [f"{words}{step} {i}" for i in range(8)])
    ]
    assert len(records) == 10_000
    file = tmp_path / "page.html"
    file.write_text(page(records, "run.jsonl"), encoding="utf-8")
    shown.command("Performance.enable")
    shown.show(file.as_uri())
    metrics = {one["name"]: one["value"] for one in shown.command("Performance.getMetrics")["metrics"]}
    assert 1000 * metrics["TaskDuration"] < OPENS_IN
    assert shown.run("return document.querySelector('[data-sample]').hidden;")


def test_a_sample_says_so(shown, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page(a_run(40), "run.jsonl", most=100), encoding="utf-8")
    shown.show(file.as_uri())
    said = shown.run("return document.querySelector('[data-sample]').innerText;")
    assert said.startswith("This is a sample: 100 of 480 completions, whole groups")


def test_nobody_is_left_out(shown, address):
    """Catches words too pale, boxes that only a mouse can scroll, fields without a name."""
    if not AXE.is_file():
        pytest.skip(f"axe-core is not at {AXE}: npm install axe-core@4, or name its axe.min.js in AXE")
    for width, dark in LOOKS:
        assert_nobody_is_left_out(shown, address, width, dark)
