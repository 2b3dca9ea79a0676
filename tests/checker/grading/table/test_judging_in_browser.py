"""Judging a class by question in a real browser, by keyboard alone."""

import json

import pytest

from checker.points.forms import read_forms
from tests.checker.browser import NEEDED, browser
from tests.checker.grading.table.forty import class_of, worked_notebook
from tests.checker.grading.table.test_judging import SUCCESS, page_of

pytestmark = NEEDED


@pytest.fixture(scope="module")
def forty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forty")
    one = class_of(40, folder, worked_notebook(folder / "notebooks"))
    one.write()
    return one


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


CAUGHT = """
window.caught = [];
const made = URL.createObjectURL;
URL.createObjectURL = (blob) => { window.caught.push(blob); return made(blob); };
HTMLAnchorElement.prototype.click = function () {};
"""
STATE = """
const answers = [...document.querySelectorAll("article.answer")];
return {
  current: answers.findIndex((one) => one.contains(document.activeElement)),
  scores: answers.map((one) => one.querySelector("input").value),
  comments: answers.map((one) => one.querySelector("textarea").value),
  refused: answers.map((one) => one.querySelector(".refused").textContent),
  said: document.querySelector("[data-said]").textContent,
  progress: document.querySelector("[data-progress]").textContent,
  stolen: window.stolen,
};
"""


def press(shown, *keys):
    """Press keys, or type a text of several characters."""
    for key in keys:
        if len(key) > 1 and key not in ("Escape", "Enter"):
            shown.command("Input.insertText", text=key)
            continue
        text = {"text": key} if len(key) == 1 else {}
        shown.command("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        shown.command("Input.dispatchKeyEvent", type="keyUp", key=key)


@pytest.fixture
def opened(shown, forty):
    """The page of a question, just opened, in a browser without drafts."""
    if shown is not None:
        shown.show(page_of(forty).as_uri())
        shown.run("localStorage.clear()")
        shown.reload()
        shown.run(CAUGHT)
    return shown


def test_forty_answers_are_judged_by_two_keys_each(opened, forty, tmp_path):
    """Catches a key that does nothing, a focus that is lost on the way, and a file that is not what the table reads."""
    for number in range(40):
        press(opened, str(number % 4), "j")
    state = opened.run(STATE)
    assert state["scores"] == [str(number % 4) for number in range(40)]
    assert state["progress"] == "40 of 40 judged" and "last answer" in state["said"]
    press(opened, "s")
    (tmp_path / "x.grades.json").write_text(opened.run("return window.caught[0].text()"))
    forms = read_forms(tmp_path, forty.folder.secret())[0]
    assert [form.scores[SUCCESS] for form in forms] == [number % 4 for number in range(40)]
    assert not opened.complaints()


def test_a_comment_is_written_once_and_given_again(opened):
    """Catches a comment that is typed forty times."""
    press(opened, "c", "Say by how much.", "Escape", "j", "r", "1", "j", "c", "And why?", "Escape", "r", "1")
    state = opened.run(STATE)
    assert state["comments"][:3] == ["Say by how much.", "Say by how much.", "And why?\nSay by how much."]
    assert state["current"] == 2


def test_more_points_than_a_question_has_are_refused_where_one_looks(opened):
    """Catches 99 in a field of 3, and a wrong key that takes away the points that stood there."""
    press(opened, "2", "9")
    state = opened.run(STATE)
    assert state["scores"][0] == "2" and state["refused"][0].startswith("9 is refused: the question is worth 3.")
    press(opened, "j", "p", "99")
    state = opened.run(STATE)
    assert state["refused"][1].startswith("99 is refused: the question is worth 3. Give 0 to 3.")
    assert state["progress"] == "1 of 40 judged"
    press(opened, "Enter", "s")
    assert "Nothing was saved" in opened.run(STATE)["said"] and opened.run("return window.caught.length") == 0


def test_points_that_no_key_has_are_typed(opened):
    """Catches half points, and a field in which letters are commands."""
    press(opened, "1", "h", "j", "p", "2.25", "Enter", "j")
    state = opened.run(STATE)
    assert state["scores"][:2] == ["1.5", "2.25"] and state["current"] == 2


def test_the_next_answer_without_points_is_found(opened):
    """Catches answers that were skipped and are never found again."""
    press(opened, "1", "j", "j", "1", "k", "k", "u")
    assert opened.run(STATE)["current"] == 1


def test_drafts_survive_a_reload_and_stand_on_the_students_own_page(opened, forty):
    """Catches an evening lost with a closed tab, and two pages that know nothing of each other."""
    press(opened, "2", "c", "Good.", "Escape")
    assert opened.run("return !window.dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    opened.reload()
    state = opened.run(STATE)
    assert (state["scores"][0], state["comments"][0], state["current"]) == ("2", "Good.", 1)
    opened.show((forty.folder.path / "pages/student01/dots.html").as_uri())
    field = "document.querySelector('[data-criterion=\"Question: Success\"]')"
    assert opened.run(f"return {field}.value") == "2"
    opened.run(f"{field}.value = '1'; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    opened.show(page_of(forty).as_uri())
    state = opened.run(STATE)
    assert (state["scores"][0], state["comments"][0]) == ("1", "Good.")
    assert state["progress"] == "1 of 40 judged"
    opened.show((forty.folder.path / "pages/index.html").as_uri())
    assert "(1 in drafts)" in opened.run("return document.querySelector('tr[data-field] [data-drafts]').textContent")


def test_a_students_page_that_says_nothing_does_not_judge(opened, forty):
    """Catches thirty-nine answers saved as "no points" because somebody filled in the rubric."""
    opened.show((forty.folder.path / "pages/student02/dots.html").as_uri())
    opened.run("""const field = document.querySelector('#grades select'); field.value = "3";
      field.dispatchEvent(new Event("input", {bubbles: true}));""")
    opened.show(page_of(forty).as_uri())
    opened.run(CAUGHT)
    press(opened, "1", "s")
    saved = json.loads(opened.run("return window.caught[0].text()"))
    assert [form["student"] for form in saved["forms"]] == ["student01"]


def test_an_earlier_draft_does_not_hide_what_was_counted_later(shown, forty):
    """Catches a colleague's later decision overwritten by a draft that lies in this browser."""
    address = page_of(forty).as_uri()
    shown.show(address)
    shown.run("localStorage.clear()")
    old = {"scores": {SUCCESS: 1}, "saved": "2020-01-01T00:00:00Z"}
    shown.run("localStorage.setItem('grades student01/dots.ipynb', arguments[0])", json.dumps(old))
    original = page_of(forty).read_text()
    try:
        page_of(forty).write_text(
            original.replace('data-saved="0.0"', 'data-saved="1767225600.0"', 1).replace(
                'step="any" value=""', 'step="any" value="3"', 1
            )
        )
        shown.show(address)
        assert shown.run(STATE)["scores"][0] == "3"
    finally:
        page_of(forty).write_text(original)


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_ask_for_nothing_else(opened, forty, width):
    """Catches a page wider than the screen, one that complains, and one that tells somebody elsewhere that it is read."""
    for path in (page_of(forty), page_of(forty, "experiment"), forty.folder.path / "pages/index.html"):
        opened.show(path.as_uri(), width=width)
        assert opened.run("const d = document.documentElement; return d.scrollWidth - d.clientWidth") <= 1, path
        assert opened.requests() == [path.as_uri()] and not opened.complaints()
        assert opened.run("return window.stolen ?? null") is None


def test_blank_answers_have_0_by_one_key(opened, forty):
    """Catches a 0 that is typed for everybody who wrote nothing, and one for somebody who wrote something."""
    blank = opened.run("return [...document.querySelectorAll('article.answer')].map((one) => 'blank' in one.dataset)")
    assert 0 < sum(blank) < 40
    assert not blank[0]
    press(opened, "2", "b")
    scores = opened.run(STATE)["scores"]
    assert [score for score, nothing in zip(scores, blank) if nothing] == ["0"] * sum(blank)
    assert {score for score, nothing in zip(scores, blank) if not nothing} == {"", "2"}


def test_a_page_that_somebody_handed_in_writes_no_draft(shown, opened, forty, tmp_path):
    """Catches points that a student's own page puts among the drafts, for all pages of a disk share one storage."""
    press(opened, "1")
    handed_in = tmp_path / "notes.html"
    handed_in.write_text("<!doctype html><title>Notes</title>")
    shown.show(handed_in.as_uri())
    seen = shown.run("return Object.entries(localStorage)")
    assert len(seen) == 1 and forty.folder.secret() not in json.dumps(seen)
    forged = {"student": "student01", "notebook": "dots.ipynb", "scores": {SUCCESS: 3}, "saved": "2026-01-01T00:00:00Z"}
    draft = json.dumps({"draft": json.dumps(forged), "seal": json.loads(seen[0][1])["seal"]})
    shown.run("localStorage.setItem(arguments[0], arguments[1])", seen[0][0], draft)
    # The draft of one student, which bears a seal, as that of another.
    shown.run("localStorage.setItem(arguments[0], arguments[1])", seen[0][0].replace("01/", "02/"), seen[0][1])
    shown.show(page_of(forty).as_uri())
    assert shown.run(STATE)["scores"][:2] == ["", ""]
