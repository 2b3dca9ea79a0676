"""One page for each question: all answers to it under each other, with a field for points and one for a comment.

What students wrote is shown as their own pages show it: Markdown, sanitised, pictures inside it, nothing fetched.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent

from checker.grading.collect.apart import TooMuch, apart
from checker.grading.judge.worked_notebooks import WorkedNotebook
from checker.grading.table.class_folder import file_name
from checker.pages.body import LARGEST, attached
from checker.pages.markdown import highlighted, to_html
from checker.pages.rendering import TO_A_FILE
from checker.pages.sanitise import no_picture
from checker.pages.templates import rendered, style
from checker.points.fields import Field, fields
from checker.points.forms import Form
from checker.points.items import Item
from checker.points.totals import counts, shown
from checker.reading.markers import BLANK_ANSWER
from checker.reading.notebook import Cell, notebook_of
from checker.reading.text import LONGEST

QUESTIONS = "questions"  # the folder of these pages
OVERVIEW = "../../pages/index.html"
GONE = "The notebook has this question no more. Look in the notebook whether it is answered elsewhere."
EMPTY = "Nothing was written."


@dataclass(frozen=True)
class Submitted:
    """A notebook that was handed in, with its key.

    student: as the pages call who handed it in.    text: the notebook's JSON.    result: of its grading.
    form: what was given by hand so far.    page: the address of the student's page below the class's folder, "" for none.
    """

    student: str
    worked_notebook: WorkedNotebook
    text: str
    result: dict
    form: Form | None = None
    page: str = ""

    @property
    def asked(self) -> list[Item]:
        """The exercises whose points a person gives."""
        by_key = {found["key"]: found for found in self.result["items"]}
        there = [item for item in self.worked_notebook.items if item.points and item.key in by_key]
        return [item for item in there if by_key[item.key]["earned"] is None]


@dataclass(frozen=True)
class Answer:
    """The answer of one student.

    html: "" where there is none.    score, saved: the points of an earlier run's forms, and when they were given.
    judged: whether these points count; more than the question is worth are shown, and refused.
    """

    student: str
    html: str
    page: str = ""
    nothing: str = ""
    score: str = ""
    judged: bool = False
    comment: str = ""
    saved: float = 0.0


@dataclass(frozen=True)
class Question:
    """A question with all answers to it. link: of its page, from the folder of all these pages.

    wording, worked: the question and the worked answer, as HTML.
    """

    notebook: str
    field: str
    name: str
    section: str
    points: float
    wording: str
    worked: str
    link: str
    answers: tuple[Answer, ...]

    @property
    def waiting(self) -> int:
        """The number of answers without points that count."""
        return sum(not answer.judged for answer in self.answers)


def questions(submitted: Iterable[Submitted]) -> list[Question]:
    """The questions that a person judges, in the order of their notebooks, with the answers by student."""
    together: dict[int, list[Submitted]] = {}  # editions of one notebook apart
    for one in sorted(submitted, key=lambda one: (one.worked_notebook.name, one.student)):
        together.setdefault(id(one.worked_notebook), []).append(one)
    found = []
    for several in together.values():
        found += _of_one_notebook(several, {question.link for question in found})
    return found


def page(question: Question, before: Question | None = None, after: Question | None = None, secret: str = "") -> str:
    """The page of a question, with links to those before and after it. secret: the class's, for the forms that it saves."""
    return rendered(
        "judge.html.j2",
        ("drafts.js", "judge.js"),
        title=f"{question.name} ({question.notebook})",
        style=style("judge.css"),
        question=question,
        points=shown(question.points),
        overview=OVERVIEW,
        secret=secret,
        before=before,
        after=after,
    )


def _of_one_notebook(submitted: list[Submitted], taken: set[str]) -> list[Question]:
    """The questions of one edition of a notebook."""
    worked = submitted[0].worked_notebook
    asked = [item for item in worked.items if any(item in one.asked for one in submitted)]
    solutions = _written(json.dumps(worked.content), asked, "worked", {})
    answers: dict[Item, list[Answer]] = {item: [] for item in asked}
    room = dict.fromkeys(asked, LARGEST)  # characters that the page of a question can still bear
    for number, one in enumerate(submitted):
        own = [item for item in asked if item in one.asked]
        try:
            written = apart(_written, one.text, own, f"answer-{number}", room)
        except TooMuch as error:
            written = {item: (Field(item.field, item.points, item.section), str(error)) for item in own}
        for item, (field, html) in written.items():
            room[item] -= len(html)
            answers[item].append(_answer(one, field, html))
    found = []
    for item in asked:
        field, html = solutions[item]
        link = f"{file_name(Path(worked.name).stem)}/{file_name(item.field)}.html"
        if link in taken:  # of another edition of the same notebook
            link = f"{file_name(Path(worked.name).stem)}-{worked.digest[:6]}/{file_name(item.field)}.html"
        found.append(
            Question(
                notebook=worked.name,
                field=item.field,
                name=item.name,
                section=item.section,
                points=item.points,
                wording=TO_A_FILE.sub(r"\1", to_html(field.wording or item.wanted, "wording")[0]),
                worked=html,
                link=link,
                answers=tuple(answers[item]),
            )
        )
    return found


def _written(text: str, asked: list[Item], anchor: str, room: dict[Item, int]) -> dict[Item, tuple[Field, str]]:
    """The fields of these exercises in a notebook, and what stands in them as HTML, "" for nothing.

    room: the characters that each one's page can bear; pictures are left out where there is no room for them.
    """
    content = json.loads(text)
    cells = notebook_of(content).cells
    found = {}
    for item, field in zip(asked, fields(asked, content)):
        empty = field.filled_in.strip() in ("", BLANK_ANSWER)
        html = "" if empty else _html(field, anchor, room.get(item, LARGEST), cells)
        found[item] = (replace(field, filled_in=""), html)
    return found


def _answer(one: Submitted, field: Field, html: str) -> Answer:
    score = one.form.scores.get(field.name) if one.form else None
    return Answer(
        student=one.student,
        html=html,
        page=f"../../{one.page}#{field.anchor}" if one.page else "",
        nothing=GONE if field.cell is None else EMPTY,
        score="" if score is None else shown(score),
        judged=counts(score, field.points),
        comment=one.form.comments.get(field.name, "") if one.form else "",
        saved=one.form.saved if one.form else 0.0,
    )


def _html(field: Field, anchor: str, room: int, cells: tuple[Cell, ...]) -> str:
    """An answer as HTML: Markdown as Markdown shows it, or code in colours. A long answer is cut, and that is said."""
    text = dedent(field.filled_in)
    cut = f"<p><em>{len(text) - LONGEST:,} more characters are in the notebook.</em></p>" if len(text) > LONGEST else ""
    text = text[:LONGEST]
    if not field.written:
        return highlighted(text, "python") + cut
    made = to_html(text, anchor, attached(cells[field.cell]))[0]
    if len(made) > room:
        made = to_html(text, anchor, no_picture)[0]
    return TO_A_FILE.sub(r"\1", made) + cut
