"""The rubric's form in a real browser: nothing that an instructor fills in is lost."""

import json

import pytest

from checker.grading.table.feedback import feedback
from checker.grading.table.students import Line
from checker.pages.rendering import render
from checker.points.forms import read_forms
from tests.checker.browser import NEEDED, browser

pytestmark = NEEDED

FILL = """
const form = document.getElementById("grades");
const fields = form.querySelectorAll("select[data-criterion]");
fields[0].value = "4"; fields[1].value = "3";
form.querySelector("textarea").value = "Well argued.";
for (const field of [...fields, form.querySelector("textarea")]) field.dispatchEvent(new Event("input", {bubbles: true}));
"""
READ = """
const form = document.getElementById("grades");
return [[...form.querySelectorAll("select[data-criterion]")].map((field) => field.value),
  form.querySelector("textarea").value, form.querySelector("[data-total]").textContent,
  form.querySelector("[data-said]").textContent];
"""
# The download is caught where the form makes it.
SAVE = """
let saved = null;
const made = URL.createObjectURL;
URL.createObjectURL = (blob) => { saved = blob; return made(blob); };
HTMLAnchorElement.prototype.click = function () { saved.fileName = this.download; };
document.getElementById("save-grades").click();
return saved.text().then((text) => [saved.fileName, text]);
"""
OPEN = """
const field = document.querySelector("#grades input[type=file]");
const files = new DataTransfer();
files.items.add(new File([arguments[0]], "opened.grades.json"));
field.files = files.files;
field.dispatchEvent(new Event("change", {bubbles: true}));
return new Promise((done) => setTimeout(done, 200));
"""
LEAVING = "return !window.dispatchEvent(new Event('beforeunload', {cancelable: true}))"


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture
def address(good, tmp_path):
    from dataclasses import replace

    from checker.checking.check import check

    path = tmp_path / "dots.ipynb"
    path.write_text(json.dumps(good))
    report = replace(check(path), name=f"{tmp_path.name}/dots.ipynb")  # the student's name; a new one for each test
    return render(path, tmp_path / "pages", "builtin", report=report).as_uri()


def test_a_draft_survives_a_reload(shown, address):
    """Catches half an hour of grading lost with a closed tab."""
    shown.show(address)
    shown.run(FILL)
    shown.reload()
    scores, comment, total, said = shown.run(READ)
    assert (scores[:2], comment) == (["4", "3"], "Well argued.")
    assert total.startswith("7 points, 2 of") and said.startswith("As you left it")


def test_leaving_with_unsaved_work_asks_and_saving_ends_that(shown, address):
    """Catches a page that closes without a word, and one that asks for ever."""
    shown.show(address)
    assert not shown.run(LEAVING)
    shown.run(FILL)
    assert shown.run(LEAVING)
    shown.run(SAVE)
    assert not shown.run(LEAVING)


def test_a_saved_form_holds_student_and_total_and_opens_again(shown, address, tmp_path):
    """Catches a form of which nobody knows whose it is, and one that can be saved and never changed."""
    shown.show(address)
    shown.run(FILL)
    name, text = shown.run(SAVE)
    saved = json.loads(text)
    assert (saved["student"], saved["notebook"], saved["total"]) == (tmp_path.name, "dots.ipynb", 7)
    (tmp_path / name).write_text(text)
    assert [form.total for form in read_forms(tmp_path)[0]] == [7]
    shown.run("localStorage.clear()")
    shown.show(address)
    assert shown.run(READ)[0][0] == ""
    shown.run(OPEN, text)
    scores, comment, _, said = shown.run(READ)
    assert (scores[:2], comment, said) == (["4", "3"], "Well argued.", "opened.grades.json is open.")


GIVE = """
const field = document.querySelector('#grades input[type=number]');
field.value = arguments[0];
field.dispatchEvent(new Event("input", {bubbles: true}));
return [field.dataset.criterion, document.querySelector("[data-total]").textContent];
"""


@pytest.fixture
def asking(good, tmp_path):
    """The address of a page whose notebook asks a question that is worth 2.5 points."""
    good["cells"][-1]["source"] += "\n\n**Success.** Did it help?\n\n*Worth 2.5 points.*\n\nIt did."
    path = tmp_path / "dots.ipynb"
    path.write_text(json.dumps(good))
    return render(path, tmp_path / "pages", "builtin").as_uri()


def test_points_by_hand_are_saved_and_opened_like_the_rest(shown, asking, tmp_path):
    """Catches half a point that is lost on its way into the file, or back."""
    shown.show(asking)
    assert shown.run(GIVE, "1.5") == ["Question: Success", "1.5 points, 1 of 5 fields filled"]
    name, text = shown.run(SAVE)
    assert json.loads(text)["scores"]["Question: Success"] == 1.5
    (tmp_path / name).write_text(text)
    assert read_forms(tmp_path)[0][0].scores["Question: Success"] == 1.5
    shown.run("localStorage.clear()")
    shown.show(asking)
    shown.run(OPEN, text)
    assert shown.run("return document.querySelector('#grades input[type=number]').value") == "1.5"


READ_COMMENT = """
const form = document.getElementById("grades");
return [form.querySelector("textarea[data-comment]").value, form.querySelector("[data-said]").textContent];
"""


def test_a_comment_without_points_is_loaded(shown, asking, tmp_path):
    """Catches a comment that is lost, and later overwritten, since nobody has given points yet."""
    alone = {"student": "", "notebook": "dots.ipynb", "comments": {"Question: Success": "By how much?"}}
    whose = {"student": tmp_path.name, "saved": "2026-11-23T10:00:00Z"}
    shown.show(asking)
    student = shown.run("return document.getElementById('grades').dataset.student")
    draft = json.dumps(alone | whose | {"student": student})
    shown.run("drafts.write(JSON.parse(arguments[0]))", draft)
    shown.reload()
    comment, said = shown.run(READ_COMMENT)
    assert comment == "By how much?" and said.startswith("As you left it")
    shown.run("localStorage.clear()")
    shown.show(asking)
    shown.run(OPEN, draft)
    assert shown.run(READ_COMMENT) == ["By how much?", "opened.grades.json is open."]


@pytest.mark.parametrize("given", ["25", "-1"])
def test_more_than_an_exercise_is_worth_is_not_saved(shown, asking, given):
    """Catches 25 for 2.5: the sum counts it not, and saving says which field it is."""
    shown.show(asking)
    assert shown.run(GIVE, given)[1].startswith("0 points, 0 of 5")
    shown.run(SAVE.replace("return saved.text()", "return saved && saved.text()"))
    assert shown.run(READ)[3] == "Question: Success: give 0 to 2.5 points. Nothing was saved."


@pytest.mark.parametrize(
    ("text", "words"), [("{", "is not a saved form"), ('{"student": "eve", "notebook": "x"}', "of eve/x")]
)
def test_another_form_is_not_opened(shown, address, text, words):
    """Catches one student's points put onto another's page."""
    shown.show(address)
    shown.run(OPEN, text)
    scores, _, _, said = shown.run(READ)
    assert words in said and not any(scores)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_feedback_page_has_the_width_of_the_window(shown, tmp_path, width):
    """Catches feedback squeezed into the narrow column in which other pages have their contents, its words cut off."""
    item = {"name": "hand_type", "section": "Cell 3: Data", "earned": 0.0, "points": 6.0, "verdict": "too short " * 12}
    result = {"notebook": "poker.ipynb", "items": [item], "earned": 0.0, "possible": 6.0, "stopped": "", "findings": []}
    page = tmp_path / "feedback.html"
    page.write_text(feedback(Line("ann", {"poker.ipynb": result}), "ann"), encoding="utf-8")
    shown.show(page.as_uri(), width=width)
    assert shown.run("return document.querySelector('main').clientWidth") > 0.75 * width
    assert shown.run("const m = document.querySelector('main'); return m.scrollWidth - m.clientWidth") == 0
