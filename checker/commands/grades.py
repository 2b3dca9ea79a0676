"""`checker grades`: the filled forms of a class as one table."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from checker.notebook import Unreadable
from checker.terminal import UNREADABLE, complain


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
