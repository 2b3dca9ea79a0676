"""The index of a class's pages, and the links by which each page leads to the next student's."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from checker.grading.table.judging import QUESTIONS, Question
from checker.pages.templates import rendered
from checker.points.totals import shown, summed
from checker.rules.findings import COUNTED

INDEX = "pages/index.html"
NEIGHBOURS = "<!-- neighbours -->"  # in `page.html.j2`; a comment of a stranger's does not reach a page


@dataclass(frozen=True)
class Row:
    """One notebook of one student, as the index lists it.

    page: its address below the class's folder, "" without one.    fields: those that are still to be judged.
    """

    student: str
    notebook: str
    page: str
    earned: str
    possible: str
    findings: int
    fields: tuple[str, ...]
    remark: str


def row(student: str, page: str, result: dict, items: list[dict], remark: str) -> Row:
    """The row of a result. items: its exercises with the points that a person gave."""
    points = summed(items)
    findings = sum(finding["level"] in COUNTED for finding in result["findings"])
    findings += sum(item.get("finding", False) for item in items)
    return Row(
        student=student,
        notebook=result["notebook"],
        page=page,
        earned="" if result["ungraded"] else shown(points.earned),
        possible=shown(points.possible),
        findings=findings,
        fields=() if result["ungraded"] else tuple(one["field"] for one in items if _waits(one)),
        remark=remark or ("not graded" if result["ungraded"] else ""),
    )


def index(
    rows: list[Row], without: list[tuple[str, str]], questions: list[Question], secret: str = "", rules: str = ""
) -> str:
    """The page that lists the notebooks and the questions of a class.

    without: the students who have no graded notebook, with the reason.
    secret: the class's, for its forms.    rules: a line on them, for the head.
    """
    return rendered(
        "class.html.j2",
        ("index.js", "drafts.js", "class.js"),
        title="The class",
        rows=rows,
        without=without,
        questions=questions,
        folder=QUESTIONS,
        secret=secret,
        rules=rules,
        waiting=sum(len(one.fields) for one in rows),
    )


def _waits(item: dict) -> bool:
    return item["earned"] is None and item["points"] > 0


def with_neighbours(page: str, row: Row, before: Row | None, after: Row | None, secret: str = "") -> str:
    """A student's page with links to the index, and to the students before and after who have this notebook.

    secret: the class's, for the form of the page, which is the instructor's and no student's.
    """
    links = [f'<a href="../index.html">The class</a> <strong>{escape(row.student)}</strong>']
    if before is not None:
        links.append(_link(before, "prev", "‹ {}"))
    if after is not None:
        links.append(_link(after, "next", "{} ›"))
    return page.replace(NEIGHBOURS, f'<p class="students" data-secret="{secret}">{" ".join(links)}</p>', 1)


def ways(rows: list[Row]) -> Iterator[tuple[Row, Row | None, Row | None]]:
    """Each row that has a page, with those before and after it among the pages of its notebook."""
    by_notebook: dict[str, list[Row]] = {}
    for one in rows:
        if one.page:
            by_notebook.setdefault(one.notebook, []).append(one)
    for same in by_notebook.values():
        yield from zip(same, [None, *same[:-1]], [*same[1:], None])


def _link(row: Row, relation: str, words: str) -> str:
    address = row.page.removeprefix("pages/")
    return f'<a rel="{relation}" href="../{address}">{words.format(escape(row.student))}</a>'
