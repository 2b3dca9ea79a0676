"""`checker grades`: the filled forms of a class as one table."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.reading.notebook import Unreadable


def grades_command(
    folder: Annotated[Path, typer.Argument(help="Where the forms (*.grades.json) were saved.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the CSV; default: print.")
    ] = None,
) -> None:
    """Collect the forms that were filled in on the pages, rubric and points by hand, into one CSV."""
    from checker.points.forms import merged, read_forms, table
    from checker.reading.files import write_beside

    try:
        forms, chosen, damaged = read_forms(folder)
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
    forms = merged(forms)
    for sentence in chosen:
        print(sentence, file=sys.stderr)
    for sentence in damaged:
        complain(sentence)
    if output is None:
        sys.stdout.write(table(forms))
    else:
        write_beside(output, table(forms))
        print(f"{output}: {len(forms)} notebooks")
    raise typer.Exit(UNREADABLE if damaged else 0)
