"""`checker site`: the course's web pages."""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from checker.checking.terminal import UNREADABLE, complain
from checker.reading.notebook import Unreadable
from checker.reading.text import one_line

QUARTO_OUTPUT = Path("_site")  # output-dir in _quarto.yml


def site_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder for the site made without Quarto.")] = Path(
        "_site"
    ),
) -> None:
    """Make the course's web pages in _site: by Quarto where it is installed, else with what is here."""
    from checker.pages import quarto
    from checker.reading.website import website
    from checker.site import builtin, cell_words, pieces
    from checker.site.finish import finish

    program = quarto.program()
    try:
        if program is not None:
            site = website(Path())
            pieces.write_for_quarto(Path(), site.pages)
            cell_words.write_for_quarto(Path(), site.pages)
            status = subprocess.run([program, "render"]).returncode
            if status == 0:
                finish(Path(), QUARTO_OUTPUT, site)
            raise typer.Exit(status)
        for page in builtin.build(Path(), output):
            print(one_line(str(page)))
    except Unreadable as error:
        complain(str(error))
        raise typer.Exit(UNREADABLE) from None
