"""The command line: check, convert, render, explain. `python -m checker NOTEBOOK` checks."""

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from checker.check import Report, check, find

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False,
    help="Check, convert and render course notebooks. Nothing in a notebook is ever executed.\n\n"
    "Before you hand in:  [bold]checker my_notebook.ipynb[/bold]",
)
COMMANDS = ("check", "convert", "render", "explain")
MARKS = {"error": "[red]error[/red]  ", "warning": "[yellow]warning[/yellow]", "note": "[cyan]note[/cyan]   "}
FAIL, UNREADABLE = 1, 2


class Format(str, Enum):
    text = "text"
    json = "json"


@app.command("check")
def check_command(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders, or converted .md and .txt files.")],
    ignore: Annotated[list[str], typer.Option("--ignore", help="A code to leave out, for instance H002. Repeatable.")] = [],
    format: Annotated[Format, typer.Option(help="How to say it.")] = Format.text,
    max_output: Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)] = 1000,
) -> None:
    """Say what is wrong with notebooks, and exit with 1 when something is (2 when a file cannot be read)."""
    reports = [check(file, ignore=ignore, max_output=max_output) for path in paths for file in find(path)]
    if not reports:
        _complain(f"No notebooks were found in {', '.join(map(str, paths))}. Give .ipynb files or a folder that holds some.")
        raise typer.Exit(UNREADABLE)
    if format is Format.json:
        print(json.dumps([report.as_dict() for report in reports], indent=2, ensure_ascii=False))
    else:
        console = Console(highlight=False, soft_wrap=True)
        for report in reports:
            show(report, console)
        if len(reports) > 1:
            passed = sum(report.status == "pass" for report in reports)
            console.print(f"{passed} of {len(reports)} notebooks pass.")
    raise typer.Exit(exit_status(reports))


def exit_status(reports: list[Report]) -> int:
    """0 when all pass, 2 when a file could not be read, else 1."""
    statuses = {report.status for report in reports}
    return UNREADABLE if "unreadable" in statuses else FAIL if "fail" in statuses else 0


def show(report: Report, console: Console) -> None:
    """The verdict line and, under it, the findings."""
    verdict = {"pass": "[bold green]pass[/bold green]", "fail": "[bold red]fail[/bold red]",
               "unreadable": "[bold red]unreadable[/bold red]"}[report.status]
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
        console.print(f"  {MARKS[finding.level]} [bold]{finding.code}[/bold] {where}{escape(finding.found)}.\n               {advice}")
    for bar in report.where_they_went:
        console.print(f"  [dim]{escape(bar)}[/dim]")


@app.command("convert")
def convert_command(
    notebook: Annotated[Path, typer.Argument(help="The notebook.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write; default: print.")] = None,
    max_output: Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)] = 1000,
) -> None:
    """Turn a notebook into the Markdown that is handed in."""
    from checker.convert import to_markdown
    from checker.files import write_beside
    from checker.notebook import Unreadable, read

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
    engine: Annotated[Engine, typer.Option(help="Quarto where it is installed, else the built-in renderer.")] = Engine.auto,
) -> None:
    """Make HTML pages: folded code, a contents list, pictures and mathematics in the file itself."""
    from checker.notebook import Unreadable
    from checker.render import render

    unread = False
    for path in paths:
        for file in find(path):
            try:
                print(render(file, output, engine.value))
            except Unreadable as error:
                _complain(f"{file}: {error}")
                unread = True
    raise typer.Exit(UNREADABLE if unread else 0)


@app.command("explain")
def explain_command(code: Annotated[str, typer.Argument(help="A finding's code, for instance S002.")]) -> None:
    """What a finding means, why it matters, and an example of wrong and right."""
    from checker.rules import RULES

    rule = next((rule for rule in RULES if rule.code == code.upper()), None)
    if rule is None:
        _complain(f"There is no finding {code}. There are {', '.join(rule.code for rule in RULES)}.")
        raise typer.Exit(UNREADABLE)
    console = Console(highlight=False)
    console.print(f"[bold]{rule.code}[/bold]  {rule.check.__name__.replace('_', ' ')}  ({rule.level})\n\n{escape(rule.why)}\n")
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
