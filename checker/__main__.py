"""The command line: check, convert, render, grades, assign, explain. `python -m checker NOTEBOOK` checks."""

import sys
import tempfile
import tomllib
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from checker.archive import unpack
from checker.check import Report, check, find, unreadable
from checker.formats import as_gradescope, as_json
from checker.notebook import Unreadable

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Check, convert and render course notebooks. Nothing in a notebook is ever executed.\n\n"
    "Before you hand in:  [bold]checker my_notebook.ipynb[/bold]",
)
COMMANDS = ("check", "convert", "render", "grades", "assign", "explain")
MARKS = {"error": "[red]error[/red]  ", "warning": "[yellow]warning[/yellow]", "note": "[cyan]note[/cyan]   "}
FAIL, UNREADABLE = 1, 2


class Format(str, Enum):
    text = "text"
    json = "json"
    html = "html"
    gradescope = "gradescope"


@app.command("check")
def check_command(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders, or converted .md and .txt files.")],
    ignore: Annotated[
        list[str], typer.Option("--ignore", help="A code to leave out, for instance H002. Repeatable.")
    ] = [],
    format: Annotated[Format, typer.Option(help="How to say it.")] = Format.text,
    max_output: Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)] = 1000,
) -> None:
    """Say what is wrong with notebooks, and exit with 1 when something is (2 when a file cannot be read)."""
    reports = [
        report for path in paths for report in _check_all(path, [*ignore, *configured_ignores()], max_output)
    ]
    if not reports:
        _complain(
            f"No notebooks were found in {', '.join(map(str, paths))}. Give .ipynb files or a folder that holds some."
        )
        raise typer.Exit(UNREADABLE)
    if format is Format.json:
        print(as_json(reports))
    elif format is Format.gradescope:
        print(as_gradescope(reports))
    elif format is Format.html:
        from checker.render import index

        print(index([(report, "") for report in reports]))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for report in reports:
            show(report, console)
        if len(reports) > 1:
            passed = sum(report.status == "pass" for report in reports)
            console.print(f"{passed} of {len(reports)} notebooks pass.")
    raise typer.Exit(exit_status(reports))


def _check_all(path: Path, ignore: list[str], max_output: int) -> Iterator[Report]:
    """The reports of a file, of a folder's notebooks, or of those in a zip."""
    if path.suffix.lower() != ".zip":
        for file in find(path):
            yield check(file, ignore=ignore, max_output=max_output)
        return
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for name, file in unpack(path, Path(scratch)):
                yield check(file, name=f"{path}:{name}", ignore=ignore, max_output=max_output)
                file.unlink()
        except Unreadable as error:
            yield unreadable(str(path), error)


def configured_ignores() -> list[str]:
    """The codes that `[tool.checker] ignore = [...]` of the pyproject.toml here silences."""
    try:
        settings = (
            tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
            .get("tool", {})
            .get("checker", {})
        )
    except (OSError, ValueError):
        return []
    ignored = settings.get("ignore", []) if isinstance(settings, dict) else []
    return [code for code in ignored if isinstance(code, str)] if isinstance(ignored, list) else []


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
            f"  {MARKS[finding.level]} [bold]{finding.code}[/bold] {where}{escape(finding.found)}.\n               {advice}"
        )
    for bar in report.where_they_went:
        console.print(f"  [dim]{escape(bar)}[/dim]")


@app.command("convert")
def convert_command(
    notebook: Annotated[Path, typer.Argument(help="The notebook.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write; default: print.")
    ] = None,
    max_output: Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)] = 1000,
) -> None:
    """Turn a notebook into the Markdown that is handed in."""
    from checker.convert import to_markdown
    from checker.files import write_beside
    from checker.notebook import read

    try:
        text = to_markdown(read(notebook), max_output)
    except Unreadable as error:
        _complain(f"{notebook}: {error}")
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
    paths: Annotated[list[Path], typer.Argument(help="Notebooks or folders.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the pages.")] = Path("build"),
    engine: Annotated[
        Engine, typer.Option(help="Quarto where it is installed, else the built-in renderer.")
    ] = Engine.auto,
) -> None:
    """Make HTML pages: folded code, a contents list, pictures and mathematics in the file itself."""
    from checker.render import render_folder

    reports = []
    for path in paths:
        if path.is_dir():
            reports += render_folder(path, output / path.name if len(paths) > 1 else output, engine.value)
        else:
            reports += render_folder(path, output, engine.value)
    for report in reports:
        if report.status == "unreadable":
            _complain(f"{report.name}: {report.findings[0].advice}")
    raise typer.Exit(UNREADABLE if any(report.status == "unreadable" for report in reports) else 0)


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
    code: Annotated[str, typer.Argument(help="A finding's code, for instance S002.")],
) -> None:
    """What a finding means, why it matters, and an example of wrong and right."""
    from checker.rules import RULES

    rule = next((rule for rule in RULES if rule.code == code.upper()), None)
    if rule is None:
        _complain(f"There is no finding {code}. There are {', '.join(rule.code for rule in RULES)}.")
        raise typer.Exit(UNREADABLE)
    console = Console(highlight=False)
    console.print(
        f"[bold]{rule.code}[/bold]  {rule.check.__name__.replace('_', ' ')}  ({rule.level})\n\n{escape(rule.why)}\n"
    )
    console.print(f"[red]wrong[/red]\n{escape(rule.wrong)}\n\n[green]right[/green]\n{escape(rule.right)}")


def _complain(sentence: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"[red]error[/red]  {escape(sentence)}")


def main() -> None:
    """`checker PATH` is short for `checker check PATH`."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in COMMANDS and arguments[0] not in ("--help", "-h"):
        sys.argv.insert(1, "check")
    app(prog_name="checker")


if __name__ == "__main__":
    main()
