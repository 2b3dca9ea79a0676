"""Pages as files: one for each notebook, in the same tree, and the index that lists them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from checker.checking.batch import check_all
from checker.checking.check import Report, check, unreadable
from checker.pages import builtin
from checker.pages.card import card
from checker.pages.markdown import polished
from checker.pages.templates import rendered, with_math_font
from checker.points.fields import fields, without_a_check
from checker.points.items import Item
from checker.points.rubric import Criterion, load, with_evidence
from checker.points.totals import shown
from checker.reading.files import folded, write_beside
from checker.reading.inventory import Entry
from checker.reading.layout import SPECS
from checker.reading.notebook import Unreadable, notebook_of, parse
from checker.reading.text import one_line
from checker.rules.findings import alike

INDEX = "index.html"
LONGEST_NAME = 200  # bytes of a file's or folder's name
# A link to another file of the course leads nowhere from a page that stands alone.
TO_A_FILE = re.compile(r'<a href="(?![a-z][a-z0-9+.-]*:|#)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)


def render(
    path: Path,
    folder: Path,
    *,
    report: Report | None = None,
    by_hand: Iterable[Item] | None = None,
) -> Path:
    """Write the page of a notebook into `folder` and return where it is. The notebook itself is only read.

    Args:
        report: of a check that was made already; None checks the notebook here.
        by_hand: the exercises that the form asks points for; None for those that no check of the notebook is about.

    Raises:
        Unreadable: the file is not a notebook.
    """
    target = folder / _page_name(Path(path.name))
    write_beside(target, _page(path, report or check(path), load(), by_hand))
    return target


def render_all(found: Iterable[Entry], folder: Path, rubric: Path, **options) -> Iterator[tuple[Report, Path | None]]:
    """The report on each entry and its page, in the same tree below `folder`; no page for what is unreadable.

    Two notebooks that would get one name get two, and none gets the name of the index. `options` are those of
    `check`.
    """
    criteria = load(rubric)
    taken = {folded(folder / INDEX)}
    found = list(found)
    for entry, report in zip(found, check_all(found, **options), strict=True):
        target = None
        if report.status != "unreadable":
            target = _free(folder / _page_name(entry.inside), taken)
            try:
                write_beside(target, _page(entry.file, report, criteria))
            except Unreadable as error:
                report = unreadable(report.name, error)
                target = None
            except OSError as error:
                reason = Unreadable(f"The page {target} cannot be written: {error.strerror}.")
                report = unreadable(report.name, reason)
                target = None
        yield report, target


def _page_name(inside: Path) -> Path:
    """The path of a page below the output folder: the same tree, in names that every file system takes."""
    parts = [*inside.parts[:-1], inside.stem]
    short = [one_line(part).encode()[:LONGEST_NAME].decode(errors="ignore") for part in parts]
    return Path(*short[:-1], f"{short[-1]}.html")


def _free(target: Path, taken: set[str]) -> Path:
    """The path, or the next like it that is not taken; it is taken then."""
    stem = target.stem
    number = 1
    while folded(target) in taken:
        number += 1
        target = target.with_name(f"{stem}-{number}.html")
    taken.add(folded(target))
    return target


def _page(path: Path, report: Report, criteria: list[Criterion], by_hand: Iterable[Item] | None = None) -> str:
    """The page of a notebook. Raises Unreadable as `render` does."""
    content = parse(path)
    notebook = notebook_of(content, path)
    asked = without_a_check(notebook, content) if by_hand is None else by_hand
    body = builtin.body(notebook)
    told = card(path, notebook, {})
    text = rendered(
        "page.html.j2",
        ("page.js", "enlarge.js", "drafts.js", "form.js"),
        title=told.title,
        card=told,
        before=[("", name) for name in told.needs],
        contents=body.contents,
        cells=TO_A_FILE.sub(r"\1", body.html),
        report=report,
        found=alike(finding for finding in report.findings if finding.level != "question"),
        asked=alike(finding for finding in report.findings if finding.level == "question"),
        specs=SPECS,
        rubric=with_evidence(criteria, notebook, report),
        by_hand=fields(asked, content),
        shown=shown,
    )
    return with_math_font(polished(text))


def index(rows: list[tuple[Report, str]]) -> str:
    """The page that lists many notebooks: (report, link to the page or "")."""
    passed = sum(report.status == "pass" for report, _ in rows)
    return rendered("index.html.j2", ("index.js",), title="Notebooks", rows=rows, passed=passed)
