"""Options that several commands share."""

from enum import StrEnum
from typing import Annotated

import typer

Ignored = Annotated[list[str], typer.Option("--ignore", help="A code to leave out, for instance H002. Repeatable.")]
MaxOutput = Annotated[int, typer.Option(help="Characters of output kept for each cell.", min=0)]


class Engine(StrEnum):
    auto = "auto"
    quarto = "quarto"
    builtin = "builtin"


Engines = Annotated[
    Engine, typer.Option(help="auto: Quarto, where it is installed, for the notebooks of this course; else built in.")
]
