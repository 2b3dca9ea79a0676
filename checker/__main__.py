"""The command line. `checker NOTEBOOK` checks; `checker --help` lists the rest.

Only `report` runs what is in a notebook, and only it needs a kernel: the others work where there is none. What takes
long to import is imported by the command that needs it.
"""

import sys

from checker import bootstrap

if __name__ == "__main__":  # what follows imports packages that may not be installed yet
    bootstrap.before_packages(sys.argv[1:])

import io
import tempfile
from enum import StrEnum
from importlib.util import find_spec
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
from checker.settings import silenced
from checker.terminal import FAIL, MARKS, UNREADABLE, complain, show

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help=(
        "Check, run and render course notebooks. Only [bold]report[/bold] executes what is in them.\n\n"
        "Before you hand in:  [bold]checker my_notebook.ipynb[/bold]"
    ),
)
TO_RUN = ("nbclient", "ipykernel")  # what `report` needs beside what the checker itself does

Ignored = Annotated[list[str], typer.Option("--ignore", help="A code to leave out, for instance H002. Repeatable.")]
MaxOutput = Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)]


class Format(StrEnum):
    text = "text"
    json = "json"
    html = "html"
    gradescope = "gradescope"


@app.command("check")
def check_command(
    paths: Annotated[list[Path], typer.Argument(help="Notebooks, folders, zips, or converted .md and .txt files.")],
    ignore: Ignored = (),
    format: Annotated[Format, typer.Option(help="How to say it.")] = Format.text,
    max_output: MaxOutput = MAX_OUTPUT,
) -> None:
    """Say what is wrong with notebooks, and exit with 1 when something is (2 when a file cannot be read)."""
    console = Console(highlight=False, soft_wrap=True)
    reports = []
    with tempfile.TemporaryDirectory() as scratch:
        found = entries(paths, Path(scratch))
        for report in check_all(found, ignore=silenced(ignore), max_output=max_output):
            reports.append(report)
            if format is Format.text:
                show(report, console)
    if not reports:
        complain(
            f"No notebooks were found in {', '.join(map(str, paths))}. Give .ipynb files or a folder that holds some."
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


def exit_status(reports: list[Report]) -> int:
    """0 when all pass, 2 when a file could not be read, else 1."""
    statuses = {report.status for report in reports}
    if "unreadable" in statuses:
        return UNREADABLE
    return FAIL if "fail" in statuses else 0


REPORT_HELP = (
    "Run notebooks from top to bottom in a fresh kernel, check them and make their pages.\n\n"
    "What works for you may stop there: a cell was run out of order, or deleted after it was run. So, before you"
    " hand in:  [bold]checker report my_notebook.ipynb[/bold]\n\n"
    "The notebook itself is not written to, unless you say [bold]--in-place[/bold]. In build/ you find the executed"
    " copy (.ipynb), the text that is handed in (.md) and the page (.html). When a cell stops, its line and its error"
    " are named, and what ran before it is kept.\n\n"
    "Exits with 1 when a notebook stopped or does not pass, with 2 when a file cannot be read."
)


@app.command("report", help=REPORT_HELP)
def report_command(
    notebooks: Annotated[list[Path], typer.Argument(help="Notebooks that you trust: what is in them is executed.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", "--out", help="The folder for the executed copy and the page.")
    ] = Path("build"),
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Save the fresh outputs in the notebook when it ran to its end.")
    ] = False,
    require_claim: Annotated[
        bool,
        typer.Option(
            "--require-claim",
            help="Fail unless the outputs show what the header claims: a fine-tuned reward above the baseline, or, "
            "with `course: claim: measures`, a held-out comparison of methods.",
        ),
    ] = False,
) -> None:
    missing = [name for name in TO_RUN if find_spec(name) is None]
    if missing:
        complain(
            f"To run notebooks, {' and '.join(missing)} must be installed:"
            ' pip install "tiny-grpo-course[run]". The other commands work without.'
        )
        raise typer.Exit(UNREADABLE)
    from checker.report import run_all

    console = Console(highlight=False, soft_wrap=True)
    status = run_all(notebooks, output, console, in_place=in_place, require_claim=require_claim)
    raise typer.Exit(status)


@app.command("convert")
def convert_command(
    notebook: Annotated[Path, typer.Argument(help="The notebook.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to write; default: print.")] = None,
    max_output: MaxOutput = MAX_OUTPUT,
) -> None:
    """Turn a notebook into the Markdown that is handed in."""
    from checker.convert import to_markdown
    from checker.files import write_beside
    from checker.notebook import read

    try:
        text = to_markdown(read(notebook), max_output)
    except Unreadable as error:
        complain(f"{one_line(str(notebook))}: {error}")
        raise typer.Exit(UNREADABLE) from None
    if output is None:
        sys.stdout.write(text)
        return
    if output.exists() and output.samefile(notebook):
        complain(f"{output} is the notebook itself. Give another name.")
        raise typer.Exit(UNREADABLE)
    write_beside(output, text)
    print(f"{output}: {len(text):,} characters")


class Engine(StrEnum):
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
    ignore: Ignored = (),
) -> None:
    """Make HTML pages, one file each, and for many notebooks an index. Nothing is fetched, nothing run."""
    from checker.files import write_beside
    from checker.pages.site import INDEX, index, render_all
    from checker.rubric import RUBRIC

    rows = []
    left_out = silenced(ignore)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = entries(paths, Path(scratch))
            for report, page in render_all(found, output, engine.value, rubric or RUBRIC, ignore=left_out):
                link = "" if page is None else quote(page.relative_to(output).as_posix())
                rows.append((report, link))
                if page is None:
                    complain(f"{report.name}: {report.findings[0].advice}")
                else:
                    print(one_line(str(page)))
    except Unreadable as error:
        complain(str(error))
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
        complain(str(error))
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
    force: Annotated[bool, typer.Option("--force", help="Overwrite editions that somebody has filled in.")] = False,
) -> None:
    """Make blank editions of worked notebooks: solutions out, TODOs kept, outputs cleared.

    One that somebody has filled in is not overwritten, and then none of them is.
    """
    from checker.assign import FilledError, MarkerError, edition
    from checker.files import write_beside

    editions = []
    for path in notebooks:
        try:
            editions.append(edition(path, output, force))
        except (FilledError, MarkerError) as error:
            complain(str(error))
            raise typer.Exit(UNREADABLE) from None
        except Unreadable as error:
            complain(f"{path}: {error}")
            raise typer.Exit(UNREADABLE) from None
    for target, text in editions:
        write_beside(target, text)
        print(target)


@app.command("explain")
def explain_command(
    code: Annotated[str, typer.Argument(help="A finding's code, for instance S002; without one, all are listed.")] = "",
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
        complain(f"There is no finding {code}. There are {', '.join(rules)}.")
        raise typer.Exit(UNREADABLE)
    console.print(f"[bold]{rule.code}[/bold]  {rule.name}  ({rule.level})\n\n{escape(rule.why)}\n")
    console.print(f"[red]wrong[/red]\n{escape(rule.wrong)}\n\n[green]right[/green]\n{escape(rule.right)}")


def handed_on(context: typer.Context) -> None:
    """The commands that need no packages have their options elsewhere; here they are only listed and handed on."""
    raise typer.Exit(bootstrap.main([context.info_name, *context.args]))


HANDED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
for name, says in bootstrap.COMMANDS.items():
    app.command(name, help=says, context_settings=HANDED_ON)(handed_on)


def main() -> None:
    """`checker PATH` is short for `checker check PATH`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # nbformat and nbconvert import jsonschema, which spends over a second on a grammar of international addresses. No
    # notebook holds such an address, and jsonschema does without the grammar where its package cannot be imported.
    sys.modules.setdefault("rfc3987_syntax", None)
    arguments = sys.argv[1:]
    commands = [command.name for command in app.registered_commands]
    if arguments and arguments[0] not in (*commands, "--help", "-h"):
        sys.argv.insert(1, "check")
    try:
        app(prog_name="checker")
    except OSError as error:  # every input is read under guard: what is left is a file that cannot be written
        complain(f"{error.filename} cannot be written: {error.strerror}. Give another place.")
        sys.exit(UNREADABLE)


if __name__ == "__main__":
    main()
