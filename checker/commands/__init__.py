"""The commands, one a file. A further one is a module here and a line below.

Only `report` and `grade` run what is in a notebook and need a kernel, `grade` in isolation. What takes
long to import is imported by the command that needs it, when it is called.
"""

from typing import Annotated

import typer

from checker import __version__
from checker.commands import assign, check, convert, explain, grade, grades, new, release, render, report, site
from checker.setup import bootstrap

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Check, run and render course notebooks, and grade a class. Only [bold]report[/bold] and [bold]grade[/bold] execute"
        " what is in them, [bold]grade[/bold] in isolation.\n\n"
        "Before you hand in:  [bold]checker my_notebook.ipynb[/bold]"
    ),
)


def _version(asked: bool) -> None:
    if asked:
        print(f"checker {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """The options that no command is needed for. Typer takes the help from `app`."""


app.command("check")(check.check_command)
app.command("report", help=report.HELP)(report.report_command)
app.command("convert")(convert.convert_command)
app.command("slides")(convert.slides_command)
app.command("render")(render.render_command)
app.command("site")(site.site_command)
app.command("release")(release.release_command)
app.command("grade", help=grade.HELP)(grade.grade_command)
app.command("challenge")(grades.challenge_command)
app.command("autograder")(grade.autograder_command)
app.command("undo")(grade.undo_command)
app.command("forget")(grade.forget_command)
app.command("grades")(grades.grades_command)
app.command("new")(new.new_command)
app.command("assign")(assign.assign_command)
app.command("explain")(explain.explain_command)


def handed_on(context: typer.Context) -> None:
    """The commands that need no packages have their options elsewhere; here they are only listed and handed on."""
    raise typer.Exit(bootstrap.main([context.info_name, *context.args]))


HANDED_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
for _name, _says in bootstrap.COMMANDS.items():
    app.command(_name, help=_says, context_settings=HANDED_ON)(handed_on)


def names() -> list[str]:
    """The words that may stand first on the command line."""
    groups = [group.name for group in app.registered_groups]
    return [command.name for command in app.registered_commands] + groups
