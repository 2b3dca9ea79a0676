"""Questions to test oneself: each has one right answer and explains all of them, and needs no script."""

import re
from pathlib import Path

import pytest

from checker.pages.templates import style
from checker.reading.notebook import Unreadable
from checker.reading.website import QUESTIONS, website
from checker.site.questions import Option, Question, as_html, questions
from checker.site.terms import glossary_entries

PROJECT = Path(__file__).parents[3]
ASKED = website(PROJECT).notebooks
CODE = re.compile("`[^`]*`")
EMPHASISED = re.compile(r"(?<![*\w])\*(?!\*)([^*\n]+)\*(?!\*)")


@pytest.mark.parametrize("page", ASKED, ids=lambda page: page.stem)
def test_a_question_has_one_right_answer_and_explains_each(page):
    """Catches two right answers or none, an answer without a reason, and a right one that its place or length gives away."""
    asked = questions(PROJECT, page)
    assert 3 <= len(asked) <= 5
    places, longest = set(), 0
    for one in asked:
        rights = [option.right for option in one.options]
        assert rights.count(True) == 1 and 3 <= len(rights) <= 4, one.question
        assert all(len(option.why.split()) >= 8 for option in one.options), one.question
        assert len({option.text for option in one.options}) == len(rights)
        places.add(rights.index(True))
        longest += max(one.options, key=lambda option: len(option.text)).right
    assert len(places) > 1 and longest < len(asked)


@pytest.mark.parametrize("page", ASKED, ids=lambda page: page.stem)
def test_terms_of_questions_are_in_the_glossary(page):
    """Catches a term that a question stresses and no page explains."""
    texts = [
        text for one in questions(PROJECT, page) for text in (one.question, *(o.text + o.why for o in one.options))
    ]
    known = re.compile("|".join(entry.words for entry in glossary_entries(PROJECT, "")))
    assert [
        term for text in texts for term in EMPHASISED.findall(CODE.sub("", text)) if not known.fullmatch(term)
    ] == []


def test_questions_stand_at_the_end_of_their_page_and_are_listed(course_pages):
    """Catches questions that only the built-in contents, or only the page, have."""
    page = next(page for page in course_pages if page.stem == "dots").read_text(encoding="utf-8")
    assert page.index('id="section-8"') < page.index('id="questions"') < page.index('<nav class="turn"')
    assert '<a href="#questions">Test yourself</a>' in page
    body = page[page.index('id="questions"') : page.index('<nav class="turn"')]
    asked = questions(PROJECT, Path("notebooks/dots.ipynb"))
    assert body.count("<details ") == sum(len(one.options) for one in asked)
    assert body.count('class="right"') == len(asked) and "<script" not in body


def test_every_notebooks_page_links_to_its_questions_where_it_begins(course_pages):
    """Catches questions that only who reads to the end finds, and a number that is not theirs."""
    for page in course_pages:
        if page.parent.name == "notebooks":
            opening, _, rest = page.read_text(encoding="utf-8").partition('id="section-0"')
            (number,) = re.findall(rf'<a href="#{QUESTIONS}">(\d+) questions</a>', opening)
            assert int(number) == len(set(re.findall(r'<details name="(question-\d+)">', rest))), page


def test_a_file_that_holds_something_else_is_told(tmp_path):
    """Catches a misspelt key that passes for a wrong answer."""
    folder = tmp_path / "notebooks" / QUESTIONS
    folder.mkdir(parents=True)
    (folder / "a.yml").write_text(
        "- question: x\n  options:\n    - {text: y, why: z, correct: true}\n", encoding="utf-8"
    )
    with pytest.raises(Unreadable, match=r"a\.yml does not hold questions.*correct"):
        questions(tmp_path, Path("notebooks/a.ipynb"))
    assert questions(tmp_path, Path("notebooks/b.ipynb")) == [] and as_html([]) == ""


def test_a_file_of_questions_is_read_as_it_is_written(tmp_path):
    """Catches an answer that is right because nothing is said of it, and another notebook's questions."""
    folder = tmp_path / "notebooks" / QUESTIONS
    folder.mkdir(parents=True)
    text = "- question: größer\n  options:\n    - {text: a, why: b}\n    - {text: c, why: d, right: true}\n"
    (folder / "a.yml").write_text(text, encoding="utf-8")
    (folder / "b.yml").write_text("[]", encoding="utf-8")
    (one,) = questions(tmp_path, Path("notebooks/a.ipynb"))
    assert one == Question("größer", [Option("a", "b", False), Option("c", "d", True)])
    assert questions(tmp_path, Path("notebooks/b.ipynb")) == []


@pytest.mark.parametrize(
    "text", ["- question: x", "- options: []", "question: x", "- {", "- question: x\n  options: [a]", "1"]
)
def test_a_file_without_questions_or_options_is_told(tmp_path, text):
    """Catches a traceback in place of the file's name and of what was looked for."""
    folder = tmp_path / "notebooks" / QUESTIONS
    folder.mkdir(parents=True)
    (folder / "a.yml").write_text(text, encoding="utf-8")
    with pytest.raises(Unreadable, match=r"a\.yml does not hold questions.*: ."):
        questions(tmp_path, Path("notebooks/a.ipynb"))


def test_questions_are_shown_with_their_markdown():
    """Catches a formula or code that is shown as it is written, an answer without its verdict or its explanation."""
    asked = [Question("Why $2$?", [Option("For `a`", "Yes.", True), Option("One\n\ntwo", "No <b>.")])]
    asked.append(Question("# Again", [Option("x", "y")]))
    html = as_html(asked)
    assert html.index(f'<h2 id="{QUESTIONS}">Test yourself</h2>') < html.index("<ol") and style("questions.css") in html
    assert "<div>Why <math" in html and "<summary>For <code>a</code></summary>" in html
    assert "<summary><p>One</p>\n<p>two</p></summary>" in html
    verdicts = re.findall(r'<details name="(question-\d)">.*?<b class="(\w+)">(.*?)</b>', html, re.DOTALL)
    right, wrong = ("right", "Right."), ("wrong", "No.")
    assert verdicts == [("question-1", *right), ("question-1", *wrong), ("question-2", *wrong)]
    assert f'<h2 id="{QUESTIONS}-0">Again</h2>' in html and "</b> Yes.</p>" in html
