"""The rubric's forms, filled on the pages and saved as small JSON files: read, put into one table, nothing lost.

A student's page saves one form, the page of a question one for each student who was judged there. A form that was saved
twice, or that the browser gave a name with "(1)", counts once, the latest; a damaged one is named and the others are
counted. A class's pages bear its secret, and so do the forms that they save: one without it is nobody's.
"""

import csv
import io
import json
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from checker.points.rubric import for_a_cell
from checker.reading.notebook import Unreadable, read_bytes
from checker.reading.text import one_line

DAY = 86_400  # seconds: a clock may be wrong, or in another zone
NAMES = "*.grades*.json"  # "dots.grades.json" and "dots.grades (1).json"


@dataclass(frozen=True)
class Form:
    """One saved form.

    student: "" where the page did not say.    saved: when, by the form, else by its file.
    comments: on single exercises, by the names of their fields.
    question: the one field that a form of a question's page is about; "" for a form of a student's page.
    """

    student: str
    notebook: str
    scores: dict[str, float | None]
    comment: str
    saved: float
    path: Path
    comments: dict[str, str] = field(default_factory=dict)
    question: str = ""

    @property
    def total(self) -> float:
        return sum(score for score in self.scores.values() if score is not None)


class NotOfThisClass(Exception):
    """A form that bears another secret than the class's, or none."""


def read_forms(
    folder: Path, secret: str | None = None, unmarked: bool = False
) -> tuple[list[Form], list[str], list[str]]:
    """The forms below a folder, of each page the latest; a sentence on each choice; and one on each refused file.

    `merged` makes one of the forms of a notebook.

    Args:
        secret: of the class, without which a form is refused; None for forms that are of no class, or were read before.
        unmarked: whether forms count that bear no secret, as those of an earlier version, which is said of each.

    Raises:
        Unreadable: no form is there.
    """
    latest: dict[tuple[str, str, str], Form] = {}
    chosen = []
    damaged = []
    paths = sorted(folder.rglob(NAMES))
    for path in paths:
        try:
            marked, found = _read(path)
            if secret is not None and marked != secret:
                if marked or not unmarked:
                    raise NotOfThisClass
                chosen.append(
                    f"{one_line(str(path))} bears no mark of this class. It counts as one of an earlier version."
                )
        except NotOfThisClass:
            damaged.append(f"{one_line(str(path))} was not saved on a page of this class. It was not counted.")
            continue
        except (Unreadable, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            damaged.append(f"{one_line(str(path))} is not a saved form ({error!r:.200}). Save it again from its page.")
            continue
        for form in found:
            other = latest.setdefault((form.student, form.notebook, form.question), form)
            if other is form:
                continue
            later = max(form, other, key=lambda one: one.saved)
            earlier = other if later is form else form
            latest[(form.student, form.notebook, form.question)] = later
            chosen.append(f"{one_line(str(later.path))} was saved after {one_line(str(earlier.path))}, and counts.")
    if not paths:
        raise Unreadable(
            f"No filled forms ({NAMES}) are in {folder}. Open a page, fill the form at its end, and save it there."
        )
    return [latest[key] for key in sorted(latest)], list(dict.fromkeys(chosen)), damaged


def merged(forms: Iterable[Form]) -> list[Form]:
    """One form for each student's notebook: its page's, with what the pages of questions say later.

    A field that a student's page leaves empty says nothing: what a question's page gave stays, whichever is later.
    """
    by_owner: dict[tuple[str, str], list[Form]] = {}
    for form in sorted(forms, key=lambda form: form.question != ""):
        by_owner.setdefault((form.student, form.notebook), []).append(form)
    return [_merged(*by_owner[owner]) for owner in sorted(by_owner)]


def _merged(page: Form, *questions: Form) -> Form:
    """The form of a page, or of a first question, with those of further questions, each compared with the page alone."""
    scores = dict(page.scores)
    comments = dict(page.comments)
    for form in questions:
        is_later = form.saved > page.saved
        if is_later or scores.get(form.question) is None:
            scores |= form.scores
        if is_later or not comments.get(form.question):
            comments.pop(form.question, None)
            comments |= form.comments
    saved = max(form.saved for form in (page, *questions))
    return replace(page, scores=scores, comments=comments, saved=saved, question="")


def table(forms: list[Form]) -> str:
    """One line for each form, as CSV: student, notebook, a score for each criterion, total, comment."""
    names = list(dict.fromkeys(name for form in forms for name in form.scores))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "notebook", *names, "total", "comment"])
    for form in forms:
        scores = [form.scores.get(name) for name in names]
        said = [form.comment, *(f"{name}: {text}" for name, text in form.comments.items())]
        comment = " ".join(text for text in said if text)
        cells = [form.student, form.notebook, *map(_shown, scores), _shown(form.total), comment]
        writer.writerow([for_a_cell(cell) for cell in cells])
    return out.getvalue()


def _read(path: Path) -> tuple[str, list[Form]]:
    """The secret and the forms of a file. Where something else lies there an exception of any kind is raised."""
    content = json.loads(read_bytes(path).decode("utf-8-sig"))
    return str(content.get("class", "")), [_form(one, path) for one in content.get("forms", [content])]


def _form(content: dict, path: Path) -> Form:
    scores = {}
    for name, score in content["scores"].items():
        scores[str(name)] = None if score is None else float(score)
        if score is not None and not math.isfinite(scores[str(name)]):
            raise ValueError(f"the score of {name} is {score}")
    saved = content.get("saved")
    moment = datetime.fromisoformat(saved).astimezone(UTC).timestamp() if saved else path.stat().st_mtime
    if moment > time.time() + DAY:
        raise ValueError(f"it was saved on {saved}, which is still to come")
    return Form(
        student=str(content.get("student", "")),
        notebook=str(content.get("notebook", path.name)),
        scores=scores,
        comment=str(content.get("comment", "")),
        saved=moment,
        path=path,
        comments={str(name): str(text) for name, text in content.get("comments", {}).items() if text},
        question=str(content.get("question", "")),
    )


def _shown(score: float | None) -> str:
    return "" if score is None else f"{score:g}"
