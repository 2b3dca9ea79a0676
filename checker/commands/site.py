"""`checker site`: the course's web pages."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from checker.findings import one_line
from checker.notebook import Unreadable
from checker.terminal import UNREADABLE, complain


def site_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the site made without Quarto.")] = Path(
        "_site"
    ),
) -> None:
    """Make the course's web pages in _site: by Quarto where it is installed, else with what is here."""
    from checker.pages import course, pieces, quarto

    program = quarto.program()
    try:
        if program is not None:
            _, sources = course.settings(Path())
            pieces.write_for_quarto(Path(), sources)
            raise typer.Exit(subprocess.run([program, "render"]).returncode)
        for page in course.build(Path(), output):
            print(one_line(str(page)))
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
