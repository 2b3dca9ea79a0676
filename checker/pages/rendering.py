"""Pages as files: one for each notebook, in the same tree, and the index that lists them."""

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from checker.checking.batch import check_all
from checker.checking.check import Report, check, unreadable
from checker.pages import builtin, quarto
from checker.pages.body import Body
from checker.pages.card import card
from checker.pages.markdown import polished
from checker.pages.templates import rendered, with_math_font
from checker.points.fields import fields, without_a_check
from checker.points.items import Item
from checker.points.rubric import RUBRIC, Criterion, load, with_evidence
from checker.points.totals import shown
from checker.reading.files import folded, write_beside
from checker.reading.inventory import Entry
from checker.reading.layout import SPECS
from checker.reading.notebook import Notebook, Unreadable, notebook_of, parse
from checker.reading.text import one_line
from checker.rules.findings import alike

INDEX = "index.html"
LONGEST_NAME = 200  # bytes of a file's or folder's name
PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 10  # seconds for git
# A link to another file of the course leads nowhere from a page that stands alone.
TO_A_FILE = re.compile(r'<a href="(?![a-z][a-z0-9+.-]*:|#)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
Say = Callable[[str], None]  # what is done with a sentence about how a page was made


def _in_silence(note: str) -> None:
    """Say nothing, to those who read the note on the page."""


def render(
    path: Path,
    folder: Path,
    engine: str = "auto",
    rubric: Path = RUBRIC,
    *,
    report: Report | None = None,
    by_hand: Iterable[Item] | None = None,
    origin: Path | None = None,
    say: Say = _in_silence,
) -> Path:
    """Write the page of a notebook into `folder` and return where it is. The notebook itself is only read.

    Args:
        engine: "quarto", "builtin", or "auto": Quarto, where it is installed, for the notebooks that git tracks in this
            project, the built-in engine for everyone else's.
        rubric: the file that holds the criteria.
        report: of a check that was made already; None checks the notebook here.
        by_hand: the exercises that the form asks points for; None for those that no check of the notebook is about.
        origin: the notebook of which `path` is the executed copy; None where it is none.
        say: is told why Quarto made no page where it was to make one.

    Raises:
        Unreadable: the file is not a notebook, the rubric is not one, or Quarto was asked for and is not there.
    """
    target = folder / _page_name(Path(path.name))
    chosen = _engine(engine, origin or path)
    text, note = _page(path, report or check(path), chosen, load(rubric), by_hand)
    write_beside(target, text)
    if note:
        say(note)
    return target


def render_all(
    found: Iterable[Entry], folder: Path, engine: str, rubric: Path, *, say: Say = _in_silence, **options
) -> Iterator[tuple[Report, Path | None]]:
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
                text, note = _page(entry.file, report, _engine(engine, entry.file), criteria)
                write_beside(target, text)
                if note:
                    say(f"{report.name}: {note}")
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


def _page(
    path: Path, report: Report, engine: str, criteria: list[Criterion], by_hand: Iterable[Item] | None = None
) -> tuple[str, str]:
    """The page of a notebook, and what there is to say of how it was made. Raises Unreadable as `render` does."""
    content = parse(path)
    notebook = notebook_of(content, path)
    asked = without_a_check(notebook, content) if by_hand is None else by_hand
    body = _body(notebook, engine)
    body = replace(body, html=TO_A_FILE.sub(r"\1", body.html))
    told = card(path, notebook, {})
    text = rendered(
        "page.html.j2",
        ("page.js", "enlarge.js", "drafts.js", "form.js"),
        title=told.title,
        card=told,
        before=[("", name) for name in told.needs],
        body=body,
        report=report,
        found=alike(finding for finding in report.findings if finding.level != "question"),
        asked=alike(finding for finding in report.findings if finding.level == "question"),
        specs=SPECS,
        rubric=with_evidence(criteria, notebook, report),
        by_hand=fields(asked, content),
        shown=shown,
    )
    return with_math_font(polished(text)), body.note


def _engine(asked: str, path: Path) -> str:
    """The engine for a notebook: the one that was asked for, else Quarto, where it is installed, for the course's own."""
    if asked != "auto":
        return asked
    return "quarto" if quarto.program() is not None and _is_ours(path) else "builtin"


def _is_ours(path: Path) -> bool:
    """True if git tracks a notebook in the project that holds this checker."""
    command = ["git", "-C", str(PROJECT), "ls-files", "--error-unmatch", "--", str(path.resolve())]
    try:
        return subprocess.run(command, capture_output=True, timeout=PATIENCE).returncode == 0
    except (OSError, ValueError, subprocess.TimeoutExpired):  # no git, or a name that is none
        return False


def _body(notebook: Notebook, engine: str) -> Body:
    """The cells of a notebook by Quarto or built in; built in as well where Quarto fails, and that is noted."""
    if engine == "builtin":
        return builtin.body(notebook)
    program = quarto.program()
    if program is None:
        raise Unreadable("Quarto is not installed. See https://quarto.org/docs/get-started, or use --engine builtin.")
    try:
        return quarto.body(program, notebook)
    except quarto.Failed as error:
        note = f"Quarto could not show this notebook: {error}. This is the built-in page."
        return replace(builtin.body(notebook), note=note)


def index(rows: list[tuple[Report, str]]) -> str:
    """The page that lists many notebooks: (report, link to the page or "")."""
    passed = sum(report.status == "pass" for report, _ in rows)
    return rendered("index.html.j2", ("index.js",), title="Notebooks", rows=rows, passed=passed)
