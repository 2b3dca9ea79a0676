"""Options that several commands share."""

from typing import Annotated

import typer

Ignored = Annotated[list[str], typer.Option("--ignore", help="A code to leave out, for instance H002. Repeatable.")]
MaxOutput = Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)]
