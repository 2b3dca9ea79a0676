"""`checker assign`: blank editions of worked notebooks."""

from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.reading.notebook import Unreadable


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
    from checker.editions.assign import FilledError, MarkerError, edition
    from checker.reading.files import write_beside

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
