"""Pages as files: one for each notebook, in the same tree, and the index that lists them."""

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from checker.batch import check_all
from checker.check import Report, check, unreadable
from checker.files import write_beside
from checker.findings import one_line
from checker.inventory import Entry
from checker.layout import title_of
from checker.notebook import Unreadable, read
from checker.pages import builtin, quarto
from checker.pages.templates import css, script, template
from checker.rubric import RUBRIC, Criterion, load, with_evidence

INDEX = "index.html"
LONGEST_NAME = 200  # bytes of a file's or folder's name


def render(
    path: Path, folder: Path, engine: str = "auto", rubric: Path = RUBRIC, *, report: Report | None = None
) -> Path:
    """Write the page of a notebook into `folder` and return where it is. The notebook itself is only read.

    Args:
        engine: "quarto", "builtin", or "auto" for Quarto where it is installed.
        rubric: the file that holds the criteria.
        report: of a check that was made already; None checks the notebook here.

    Raises:
        Unreadable: the file is not a notebook, the rubric is not one, or Quarto was asked for and is not
            there or fails.
    """
    target = folder / _page_name(Path(path.name))
    write_beside(target, _page(path, report or check(path), engine, load(rubric)))
    return target


def render_all(
    found: Iterable[Entry], folder: Path, engine: str, rubric: Path, **options
) -> Iterator[tuple[Report, Path | None]]:
    """The report on each entry and its page, in the same tree below `folder`; no page for what is unreadable.

    Two notebooks that would get one name get two, and none gets the name of the index. `options` are those of
    `check`.
    """
    criteria = load(rubric)
    taken = {_folded(folder / INDEX)}
    found = list(found)
    for entry, report in zip(found, check_all(found, **options), strict=True):
        target = None
        if report.status != "unreadable":
            target = _free(folder / _page_name(entry.inside), taken)
            try:
                write_beside(target, _page(entry.file, report, engine, criteria))
            except Unreadable as error:
                report = unreadable(report.name, error)
                target = None
            except OSError as error:
                reason = Unreadable(f"The page {target} cannot be written: {error.strerror}.")
                report = unreadable(report.name, reason)
                target = None
        yield report, target


def _page_name(inside: Path) -> Path:
    """Where a page lies below the output folder: the same tree, in names that every file system takes."""
    parts = [*inside.parts[:-1], inside.stem]
    short = [one_line(part).encode()[:LONGEST_NAME].decode(errors="ignore") for part in parts]
    return Path(*short[:-1], f"{short[-1]}.html")


def _free(target: Path, taken: set[str]) -> Path:
    """The path, or the next like it that is not taken; it is taken then."""
    stem = target.stem
    number = 1
    while _folded(target) in taken:
        number += 1
        target = target.with_name(f"{stem}-{number}.html")
    taken.add(_folded(target))
    return target


def _folded(path: Path) -> str:
    """A path as a disk compares it that knows neither capitals nor ways to write an accent: macOS's and Windows's."""
    return unicodedata.normalize("NFC", str(path)).casefold()


def _page(path: Path, report: Report, engine: str, criteria: list[Criterion]) -> str:
    """The page of a notebook, by Quarto or built in. Raises Unreadable as `render` does."""
    notebook = read(path)
    program = quarto.program() if engine in ("auto", "quarto") else None
    if engine == "quarto" and program is None:
        raise Unreadable("Quarto is not installed. See https://quarto.org/docs/get-started, or use --engine builtin.")
    if program is None:
        return builtin.page(notebook, report, criteria)
    form = template("rubric.html.j2").render(rubric=with_evidence(criteria, notebook, report), report=report)
    return quarto.page(program, path, title_of(notebook), form, **script("form.js"))


def index(rows: list[tuple[Report, str]]) -> str:
    """The page that lists many notebooks: (report, link to the page or "")."""
    passed = sum(report.status == "pass" for report, _ in rows)
    return template("index.html.j2").render(rows=rows, passed=passed, css=css(), **script("index.js"))
