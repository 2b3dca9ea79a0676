"""`checker site`: the course's web pages."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from checker.findings import one_line
from checker.notebook import Unreadable
from checker.terminal import UNREADABLE, complain

QUARTO_OUTPUT = Path("_site")  # output-dir in _quarto.yml


def site_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the site made without Quarto.")] = Path(
        "_site"
    ),
) -> None:
    """Make the course's web pages in _site: by Quarto where it is installed, else with what is here."""
    from checker.pages import course, pieces, quarto
    from checker.pages.finish import finish
    from checker.pages.pruned import prune
    from checker.pages.website import website

    program = quarto.program()
    try:
        if program is not None:
            site = website(Path())
            pieces.write_for_quarto(Path(), site.pages)
            status = subprocess.run([program, "render"]).returncode
            if status == 0:
                finish(Path(), QUARTO_OUTPUT, site)
                prune(QUARTO_OUTPUT)
            raise typer.Exit(status)
        for page in course.build(Path(), output):
            print(one_line(str(page)))
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
