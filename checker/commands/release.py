"""`checker release`: what a student gets."""

from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import FAIL, UNREADABLE, complain
from checker.commands.options import in_a_clone
from checker.reading.notebook import Unreadable


def release_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="A folder that is empty or not there yet.")] = Path(
        "course-student"
    ),
    trial: Annotated[bool, typer.Option(help="Run a notebook from there, to see that it works.")] = True,
) -> None:
    """Make the folder that students get: blank notebooks, helpers, checks, checker and model, no worked notebooks."""
    from checker.editions.release import ReleaseError, release, tried
    from checker.reading.markers import MarkerError
    from checker.setup.environment import ROOT

    in_a_clone()
    try:
        released = release(ROOT, output)
    except (ReleaseError, MarkerError, Unreadable) as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    print(f"{output}: {released.files} files, {len(released.notebooks)} notebooks")
    if trial:
        if problem := tried(released):
            complain(problem)
            raise typer.Exit(FAIL)
        print(f"{released.notebooks[0]} was run from there, to its first exercise.")
