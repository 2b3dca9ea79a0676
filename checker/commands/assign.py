"""`checker assign`: blank editions of worked notebooks."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain, warn
from checker.reading.notebook import Unreadable

BLANK = Path("notebooks", "student")


class Grader(StrEnum):
    """The graders, of other projects, for which an edition can be written."""

    nbgrader = "nbgrader"
    otter = "otter"


def assign_command(
    notebooks: Annotated[list[Path], typer.Argument(help="Worked notebooks.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help=f"The folder for the editions: {BLANK.as_posix()}, or build/ and the grader."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite editions that somebody has filled in.")] = False,
    without_exercises: Annotated[
        bool, typer.Option("--without-exercises", help="Accept a notebook in which nothing is to be filled in.")
    ] = False,
    grader: Annotated[
        Grader | None,
        typer.Option(
            "--for",
            help="Write what this grader makes its own release from: its markers and metadata, the solutions in it.",
        ),
    ] = None,
) -> None:
    """Make blank editions of worked notebooks: solutions out, TODOs kept, outputs cleared.

    One that somebody has filled in is not overwritten, and then none of them is.
    """
    from checker.editions import nbgrader, otter
    from checker.editions.assign import FilledError, MarkerError, edition, edition_for
    from checker.reading.files import write_beside

    written = {Grader.nbgrader: nbgrader.written, Grader.otter: otter.written}
    folder = output or (Path("build", grader.value) if grader else BLANK)
    editions = []
    for path in notebooks:
        try:
            made = edition_for(path, folder, written[grader]) if grader else edition(path, folder, force)
        except (FilledError, MarkerError) as error:
            complain(str(error))
            raise typer.Exit(UNREADABLE) from None
        except Unreadable as error:
            complain(f"{path}: {error}")
            raise typer.Exit(UNREADABLE) from None
        if not (made.exercises or made.answers or without_exercises):
            complain(
                f"{path} has no exercise: nothing stands between `# student code here` and `# end student code`, or in an"
                " answer's markers. Mark what students write, or say --without-exercises. Nothing was written."
            )
            raise typer.Exit(UNREADABLE)
        editions.append(made)
    for made in editions:
        write_beside(made.path, made.text)
        print(f"{made.path}  {'in markers' if grader else 'taken out'}: {made.taken_out}")
        for warning in made.warnings:
            warn(warning)
