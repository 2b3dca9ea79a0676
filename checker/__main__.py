"""The command line: check, convert, render, grades, assign, explain. `python -m checker NOTEBOOK` checks."""

import io
import sys
import tempfile
import tomllib
from enum import Enum
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from rich.console import Console
from rich.markup import escape

from checker.batch import check_all, entries
from checker.check import Report
from checker.convert import MAX_OUTPUT
from checker.findings import one_line
from checker.formats import as_gradescope, as_json
from checker.notebook import Unreadable

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help=(
        "Check, convert and render course notebooks. Nothing in a notebook is ever executed.\n\n"
        "Before you hand in:  [bold]checker my_notebook.ipynb[/bold]"
    ),
)
COMMANDS = ("check", "convert", "render", "grades", "assign", "explain")
MARKS = {"error": "[red]error[/red]  ", "warning": "[yellow]warning[/yellow]", "note": "[cyan]note[/cyan]   "}
FAIL, UNREADABLE = 1, 2
PROJECT = "pyproject.toml"


Ignored = Annotated[
    list[str], typer.Option("--ignore", help="A code to leave out, for instance H002. Repeatable.")
]
MaxOutput = Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)]


class Format(str, Enum):
    text = "text"
    json = "json"
    html = "html"
    gradescope = "gradescope"


@app.command("check")
def check_command(
    paths: Annotated[
        list[Path], typer.Argument(help="Notebooks, folders, zips, or converted .md and .txt files.")
    ],
    ignore: Ignored = [],
    format: Annotated[Format, typer.Option(help="How to say it.")] = Format.text,
    max_output: MaxOutput = MAX_OUTPUT,
) -> None:
    """Say what is wrong with notebooks, and exit with 1 when something is (2 when a file cannot be read)."""
    console, reports = Console(highlight=False, soft_wrap=True), []
    with tempfile.TemporaryDirectory() as scratch:
        found = entries(paths, Path(scratch))
        for report in check_all(found, ignore=_silenced(ignore), max_output=max_output):
            reports.append(report)
            if format is Format.text:
                show(report, console)
    if not reports:
        _complain(
            f"No notebooks were found in {', '.join(map(str, paths))}. Give .ipynb files or a folder that"
            " holds some."
        )
        raise typer.Exit(UNREADABLE)
    if format is Format.json:
        print(as_json(reports))
    elif format is Format.gradescope:
        print(as_gradescope(reports))
    elif format is Format.html:
        from checker.pages.site import index

        print(index([(report, "") for report in reports]))
    elif len(reports) > 1:
        passed = sum(report.status == "pass" for report in reports)
        console.print(f"{passed} of {len(reports)} notebooks pass.")
    raise typer.Exit(exit_status(reports))


def _silenced(codes: list[str]) -> list[str]:
    """These codes and those of the pyproject.toml, in capitals. One that does not exist is said."""
    from checker.rules import RULES

    known = {rule.code for rule in RULES}
    codes = [*codes, *configured_ignores()]
    for code in codes:
        if code.upper() not in known:
            _complain(f"There is no finding {code} to ignore. There are {', '.join(sorted(known))}.")
            raise typer.Exit(UNREADABLE)
    return [code.upper() for code in codes]


def configured_ignores() -> list[str]:
    """What `[tool.checker] ignore = [...]` silences, in the nearest pyproject.toml from here upwards."""
    path = next((p for here in (Path.cwd(), *Path.cwd().parents) if (p := here / PROJECT).is_file()), None)
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8")) if path else {}
        codes = settings.get("tool", {}).get("checker", {}).get("ignore", [])
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise ValueError('`ignore` under [tool.checker] is not a list of codes, such as ["H002", "P009"]')
    except (OSError, ValueError, AttributeError) as error:
        problem = "[tool.checker] is not a table" if isinstance(error, AttributeError) else error
        _complain(f"{path}: {problem}. Mend it, or run the checker elsewhere.")
        raise typer.Exit(UNREADABLE) from None
    return codes


def exit_status(reports: list[Report]) -> int:
    """0 when all pass, 2 when a file could not be read, else 1."""
    statuses = {report.status for report in reports}
    return UNREADABLE if "unreadable" in statuses else FAIL if "fail" in statuses else 0


def show(report: Report, console: Console) -> None:
    """The verdict line and, under it, the findings."""
    verdict = {
        "pass": "[bold green]pass[/bold green]",
        "fail": "[bold red]fail[/bold red]",
        "unreadable": "[bold red]unreadable[/bold red]",
    }[report.status]
    line = f"{verdict}  {escape(report.name)}"
    if report.status != "unreadable":
        line += f"  [dim]{report.characters:,} of {report.limit:,} characters"
        if report.sections_present:
            line += f", {report.sections_present} of 9 cells"
        if report.baseline is not None and report.tuned is not None:
            line += f", reward {report.baseline:.3f} to {report.tuned:.3f}"
        line += "[/dim]"
    console.print(line)
    for finding in report.findings:
        where = "" if finding.cell is None else f"cell {finding.cell}: "
        advice = escape(finding.advice).replace("\n", "\n                 ")
        console.print(
            f"  {MARKS[finding.level]} [bold]{finding.code}[/bold] {where}{escape(finding.found)}.\n"
            f"               {advice}"
        )
    for bar in report.where_they_went:
        console.print(f"  [dim]{escape(bar)}[/dim]")


@app.command("convert")
def convert_command(
    notebook: Annotated[Path, typer.Argument(help="The notebook.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write; default: print.")
    ] = None,
    max_output: MaxOutput = MAX_OUTPUT,
) -> None:
    """Turn a notebook into the Markdown that is handed in."""
    from checker.convert import to_markdown
    from checker.files import write_beside
    from checker.notebook import read

    try:
        text = to_markdown(read(notebook), max_output)
    except Unreadable as error:
        _complain(f"{one_line(str(notebook))}: {error}")
        raise typer.Exit(UNREADABLE) from None
    if output is None:
        sys.stdout.write(text)
        return
    if output.exists() and output.samefile(notebook):
        _complain(f"{output} is the notebook itself. Give another name.")
        raise typer.Exit(UNREADABLE)
    write_beside(output, text)
    print(f"{output}: {len(text):,} characters")


class Engine(str, Enum):
    auto = "auto"
    quarto = "quarto"
    builtin = "builtin"


@app.command("render")
def render_command(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders, or a zip of notebooks.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the pages.")] = Path("build"),
    engine: Annotated[
        Engine, typer.Option(help="Quarto where it is installed, else the built-in renderer.")
    ] = Engine.auto,
    rubric: Annotated[Path | None, typer.Option(help="Another rubric than the handout's.")] = None,
    ignore: Ignored = [],
) -> None:
    """Make HTML pages, one file each, and for many notebooks an index. Nothing is fetched, nothing run."""
    from checker.files import write_beside
    from checker.pages.site import INDEX, index, render_all
    from checker.rubric import RUBRIC

    rows, silenced = [], _silenced(ignore)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = entries(paths, Path(scratch))
            for report, page in render_all(found, output, engine.value, rubric or RUBRIC, ignore=silenced):
                link = "" if page is None else quote(page.relative_to(output).as_posix())
                rows.append((report, link))
                if page is None:
                    _complain(f"{report.name}: {report.findings[0].advice}")
                else:
                    print(one_line(str(page)))
    except Unreadable as error:
        _complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    if len(rows) > 1 or any(not path.is_file() or path.suffix.lower() == ".zip" for path in paths):
        write_beside(output / INDEX, index(rows))
        print(one_line(str(output / INDEX)))
    raise typer.Exit(UNREADABLE if any(report.status == "unreadable" for report, _ in rows) else 0)


@app.command("grades")
def grades_command(
    folder: Annotated[Path, typer.Argument(help="Where the forms (*.grades.json) were saved.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the CSV; default: print.")
    ] = None,
) -> None:
    """Collect the rubric forms that were filled in on the pages into one CSV."""
    from checker.files import write_beside
    from checker.rubric import collect

    try:
        table = collect(folder)
    except Unreadable as error:
        _complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    if output is None:
        sys.stdout.write(table)
    else:
        write_beside(output, table)
        print(f"{output}: {table.count(chr(10)) - 1} notebooks")


@app.command("assign")
def assign_command(
    notebooks: Annotated[list[Path], typer.Argument(help="Worked notebooks.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the blank editions.")] = Path(
        "notebooks/student"
    ),
) -> None:
    """Make blank editions of worked notebooks: solutions out, TODOs kept, outputs cleared."""
    from checker.assign import MarkerError, assign

    for path in notebooks:
        try:
            print(assign(path, output))
        except (Unreadable, MarkerError) as error:
            _complain(str(error) if isinstance(error, MarkerError) else f"{path}: {error}")
            raise typer.Exit(UNREADABLE) from None


@app.command("explain")
def explain_command(
    code: Annotated[
        str, typer.Argument(help="A finding's code, for instance S002; without one, all are listed.")
    ] = "",
) -> None:
    """What a finding means, why it matters, and an example of wrong and right."""
    from checker.rules import READING, RULES

    rules = {rule.code: rule for rule in (READING, *RULES)}
    console = Console(highlight=False)
    if not code:
        for rule in rules.values():
            console.print(f"{rule.code}  {MARKS[rule.level]}  {rule.name}")
        return
    rule = rules.get(code.upper())
    if rule is None:
        _complain(f"There is no finding {code}. There are {', '.join(rules)}.")
        raise typer.Exit(UNREADABLE)
    console.print(f"[bold]{rule.code}[/bold]  {rule.name}  ({rule.level})\n\n{escape(rule.why)}\n")
    console.print(f"[red]wrong[/red]\n{escape(rule.wrong)}\n\n[green]right[/green]\n{escape(rule.right)}")


def _complain(sentence: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error[/red]  {escape(sentence)}")


def main() -> None:
    """`checker PATH` is short for `checker check PATH`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in COMMANDS and arguments[0] not in ("--help", "-h"):
        sys.argv.insert(1, "check")
    try:
        app(prog_name="checker")
    except OSError as error:  # every input is read under guard: what is left is a file that cannot be written
        _complain(f"{error.filename} cannot be written: {error.strerror}. Give another place.")
        sys.exit(UNREADABLE)


if __name__ == "__main__":
    main()
